"""What to change about programs of JAX and PyTorch, in their words."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.findings import Finding, severity_of
from tfprof_nb.analysis.advice.input_advice import INPUT_BOUND

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


def foreign_findings(evidence: Evidence) -> Iterator[Finding]:
    """Report steps that wait for their data."""
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
