"""What to change about programs of JAX and PyTorch, in their words: their input, and the types that they compute in."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, severity_of
from tfprof_nb.analysis.advice.gpu_advice import BFLOAT16_ARCHITECTURES, computes_in_32_bit, has_architecture
from tfprof_nb.analysis.advice.input_advice import INPUT_BOUND
from tfprof_nb.analysis.advice.precision_advice import IN_32_BIT

_PREPARE = {
    "jax": (
        "Make batches ahead, in a thread or with Grain, and send the next with `jax.device_put` before you wait for "
        "the result of a step: the device can compute meanwhile."
    ),
    "pytorch": (
        "Let processes of the DataLoader prepare batches while the device computes: a larger num_workers, and "
        "persistent_workers=True. With pin_memory=True and `.to(device, non_blocking=True)`, copies need not wait "
        "either."
    ),
}
_WAITING_FOR = {"jax": "waiting for the next batch", "pytorch": "waiting for the DataLoader, or copying to the device"}
_HALF = {
    True: 'Compute the loss in `with torch.autocast("cuda", dtype=torch.bfloat16):`.',
    False: 'Compute the loss in `with torch.autocast("cuda", dtype=torch.float16):`, with torch.GradScaler("cuda").',
}


def foreign_findings(evidence: Evidence) -> Iterator[Finding]:
    """Report steps that wait for their data, and PyTorch's float32 where the device has tensor cores."""
    used = evidence.overview.summary["framework"]
    if used not in _PREPARE:
        return
    percent = evidence.percent("input")
    if percent >= INPUT_BOUND.moderate:
        yield Finding(
            severity_of(percent, INPUT_BOUND.moderate, INPUT_BOUND.high),
            "Steps wait for their data",
            f"{evidence.of_step('input_ms')} is spent {_WAITING_FOR[used]}.",
            _PREPARE[used],
            percent,
            rule=INPUT_BOUND.id,
        )
    if used == "pytorch" and computes_in_32_bit(evidence):
        yield Finding(
            "medium",
            "The device computes in 32 bit",
            f"{_units.percent(evidence.percent('fp16'))} of device compute time is in kernels with a 16-bit type in "
            "their names, on a device with tensor cores.",
            _HALF[has_architecture(evidence, BFLOAT16_ARCHITECTURES)],
            proved_by=IN_32_BIT.page,
            rule=IN_32_BIT.id,
        )
