"""What the guide to GPUs recommends, where a profile shows its sign: for information, as only a try tells the gain."""

from __future__ import annotations

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.verdict import MODERATELY_PERCENT

TENSOR_CORE_ARCHITECTURES = ("Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell")
BFLOAT16_ARCHITECTURES = TENSOR_CORE_ARCHITECTURES[2:]
_CONVERTS_LAYOUT = r"nchwTo\w*nhwc|nhwcTo\w*nchw"
_CONVERTING_SHARE, _WITHOUT_TENSOR_CORES_SHARE, _SOME_16_BIT_PERCENT = 0.05, 0.2, 10.0
_FEW_16_BIT_PERCENT, _MOSTLY_COMPUTING_PERCENT = 10.0, 50.0
_MAX_NAMES = 3
_DISTRIBUTE = "Let `strategy.experimental_distribute_dataset(dataset)` feed the devices: it prefetches for each. "

LAYOUTS = Rule(
    "layout-conversions",
    "Convolutions convert their data between layouts",
    "Looks for kernels of cuDNN that convert between NCHW and NHWC.",
    "cuDNN computes 16-bit types on tensor cores in NHWC, and others mostly in NCHW: mixing them converts each time.",
    group="devices",
    page="kernels",
)
WITHOUT_TENSOR_CORES = Rule(
    "tensor-cores-unused",
    "Tensor cores stay unused",
    "Looks for ops of programs in 16 bit that tensor cores could compute, and other cores do.",
    "Tensor cores need sizes that are multiples of 8 for 16-bit types.",
    group="devices",
    page="kernels",
)
SEVERAL_WAIT = Rule(
    "devices-wait-for-data",
    "Several devices wait for their data",
    "Looks for steps on two devices and more that wait for data or copy it.",
    "One pipeline has to feed all of them. A distributed dataset prefetches for each.",
    group="devices",
    page="input_pipeline",
    moderate=MODERATELY_PERCENT,
)


def gpu_findings(evidence: Evidence) -> list[Finding]:
    """Report conversions of layouts, 16-bit ops without tensor cores, and several devices that wait for data."""
    if not evidence.is_tensorflows or not evidence.overview.summary["device_cores"]:
        return []
    rules = (_layouts, _without_tensor_cores, _several_devices)
    return [finding for rule in rules if (finding := rule(evidence))]


def has_architecture(evidence: Evidence, names: tuple[str, ...]) -> bool:
    """Whether the device is a GPU of one of the architectures."""
    return any(name in str(evidence.overview.summary["device_type"]) for name in names)


def computes_in_32_bit(evidence: Evidence) -> bool:
    """Whether a GPU with tensor cores computes for most of each step, and hardly in 16 bit, as far as kernels tell."""
    return (
        has_architecture(evidence, TENSOR_CORE_ARCHITECTURES)
        and evidence.percent("fp32") > 0
        and evidence.percent("fp16") < _FEW_16_BIT_PERCENT
        and evidence.percent("device_compute") >= _MOSTLY_COMPUTING_PERCENT  # else faster compute gains little
    )


def _layouts(evidence: Evidence) -> Finding | None:
    table = evidence.kernels().table
    converting = table[table["kernel"].astype(str).str.contains(_CONVERTS_LAYOUT, case=False)]
    share = float(converting["total_us"].sum() / (table["total_us"].sum() or 1))
    if share < _CONVERTING_SHARE:
        return None
    return Finding(
        "info",
        "Convolutions convert their data between layouts",
        f"Kernels that convert between NCHW and NHWC take {_units.share(share)} of the kernels' time.",
        "cuDNN computes 16-bit types on tensor cores in NHWC (Keras: channels_last, the default), and others mostly in "
        "NCHW (channels_first). Use one of the two from the input to the last convolution, and measure both.",
        proved_by=LAYOUTS.page,
        rule=LAYOUTS.id,
    )


def _without_tensor_cores(evidence: Evidence) -> Finding | None:
    """Report ops that tensor cores could compute, in a program of 16-bit types: of 32-bit ones another rule speaks."""
    if not has_architecture(evidence, TENSOR_CORE_ARCHITECTURES) or evidence.percent("fp16") < _SOME_16_BIT_PERCENT:
        return None
    table = evidence.kernels().table
    without = table[table["tensor_core_eligible"].astype(bool) & ~table["tensor_core_used"].astype(bool)]
    share = float(without["total_us"].sum() / (table["total_us"].sum() or 1))
    if share < _WITHOUT_TENSOR_CORES_SHARE:
        return None
    by_op = without.groupby(without["op_name"].astype(str))["total_us"].sum().nlargest(_MAX_NAMES)
    names = ", ".join(_units.shorten(name, 60) for name in by_op.index)
    return Finding(
        "info",
        "Tensor cores stay unused",
        f"{_units.share(share)} of the kernels' time is in ops that tensor cores could compute, without them: {names}.",
        "Make the sizes of these layers, and of the batch, multiples of 8 for 16-bit types, of 16 for 8-bit types.",
        proved_by=WITHOUT_TENSOR_CORES.page,
        rule=WITHOUT_TENSOR_CORES.id,
    )


def _several_devices(evidence: Evidence) -> Finding | None:
    idle, count = evidence.idle_devices
    devices, percent = count - len(idle), evidence.percent("input")
    if devices < 2 or percent < SEVERAL_WAIT.moderate:
        return None
    distributed = bool((evidence.tf_data.pipelines["side"] == "device").any())
    return Finding(
        "info",
        "Several devices wait for their data",
        f"{devices} devices computed, and {evidence.of_step('input_ms')} is spent waiting for data or copying it.",
        f"{'' if distributed else _DISTRIBUTE}With several workers, let each read its own files: "
        "`files.shard(workers, index)` before they are read.",
        proved_by=SEVERAL_WAIT.page,
        rule=SEVERAL_WAIT.id,
    )
