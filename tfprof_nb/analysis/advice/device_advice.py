"""What to change about how the program uses its devices."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, severity_of
from tfprof_nb.analysis.advice.rule import Rule

_SHORT_KERNEL_US = 20.0
_UNSEEN = (
    "Check that this TensorFlow is built for GPUs (`pip install tensorflow[and-cuda]`), and what "
    "`tf.config.list_physical_devices('GPU')` and the messages at `import tensorflow` say; then restart the kernel."
)
_UNUSED = (
    "Look for `tf.device('/CPU:0')`, for CUDA_VISIBLE_DEVICES or tf.config.set_visible_devices, and for ops without a "
    "GPU version: `tf.debugging.set_log_device_placement(True)` at the start prints where each op runs."
)


# While a step spends its time on these, no device works.
_WITHOUT_DEVICES = ("host_compute", "kernel_launch", "compile", "other")
_KEEP_BUSY = {
    "pytorch": (
        "Look in the trace at what the host does in the gaps of the device. `.item()`, `.cpu()` and printing a tensor "
        "wait for it; `torch.compile` launches fewer kernels."
    ),
    "jax": (
        "Look in the trace at what the host does in the gaps of the device. Converting an array to NumPy and printing "
        "it wait for it; `jax.jit` around the whole step launches one program instead of many."
    ),
}
_STARTING_TIMES = 10
_LATER = (
    "The first run of an op on a GPU loads its kernels, and may try several: capture later steps, and see whether this "
    "stays."
)
_FEWER_COPIES = (
    "If they move arrays between the memories of the host and the TPU (offloaded weights, for example), keep what each "
    "step reads on the TPU, as far as its memory has room, or start the copies earlier: the TPU can compute meanwhile."
)

# What `tf.distribute` calls the ops of each replica but the first.
_OF_REPLICA = r"(?:^|/)replica_[0-9]+/"
_SHARE_WORK = (
    "Let them share the work: `strategy = tf.distribute.MirroredStrategy()`, and build and compile the model in "
    "`with strategy.scope():`, with a batch as many times larger. Or leave them to other programs: "
    "CUDA_VISIBLE_DEVICES=0 before TensorFlow is imported."
)
_SHARED_ALREADY = "Capture more steps. If these devices are still without work, check that the strategy includes them."

UNUSED = Rule(
    "gpu-unused",
    "The program ran on the CPU, although a GPU was visible",
    "Looks for programs none of whose ops ran on the GPU that TensorFlow saw.",
    "Something keeps the ops on the CPU: `tf.device`, hidden devices, or ops without a GPU version.",
    group="devices",
    page="ops",
    frameworks=("tensorflow", "jax", "pytorch"),
)
UNSEEN = Rule(
    "gpu-unseen",
    "TensorFlow does not see this machine's GPU",
    "Looks for machines whose driver lists an NVIDIA GPU, where TensorFlow lists none.",
    "TensorFlow then runs on the CPU without an error: mostly its build, or a CUDA library, does not fit.",
    group="devices",
    page="overview",
    frameworks=("tensorflow", "jax", "pytorch"),
)
IDLE = Rule(
    "idle-devices",
    "Some devices did nothing",
    "Looks for devices without work beside others that have some.",
    "A program uses one GPU unless a strategy of `tf.distribute` shares its work.",
    group="devices",
    page="overview",
)
LAUNCHES = Rule(
    "kernel-launches",
    "Launching kernels takes time",
    "Looks for time of the steps that goes into launching kernels, where half of the ops keep the device busy for less "
    "than 20 µs.",
    "To launch a kernel takes the host several microseconds. XLA fuses ops into fewer kernels.",
    group="devices",
    page="kernels",
    moderate=3.0,  # as in `op_stats_to_overview_page.cc`
    high=15.0,
)
FIRST_RUN = Rule(
    "slow-first-run",
    "An op took long to start",
    "Looks for ops that ran once and took the host ten times longer to start than the GPU to compute.",
    "The first run of an op on a GPU loads its kernels, and may try several.",
    group="devices",
    page="ops",
    moderate=10.0,
)
GAPS = Rule(
    "device-idle",
    "The device is idle in much of each step",
    "Looks for time of the steps in which no kernel and no copy runs.",
    "The device waits for the host: for its Python, for results that it reads, for kernels to be launched.",
    group="devices",
    moderate=15.0,
    high=40.0,
    frameworks=("jax", "pytorch"),
)
TPU_COPIES = Rule(
    "tpu-waits-for-copies",
    "The TPU waits for copies",
    "Looks for time of the steps in which a TPU waits for asynchronous copies to end.",
    "Copies that start earlier run while the TPU computes.",
    group="devices",
    page="ops",
    moderate=10.0,
    high=30.0,
    supersedes=("device-copies",),
    frameworks=("tensorflow", "jax"),
)


def device_findings(evidence: Evidence) -> list[Finding]:
    """Report devices that are not used, and those that wait: for kernels to be launched, for the host or for copies."""
    rules = (_idle_gpu, _some_idle, _launching, _slow_start, _idle_between_kernels, _copying)
    return [finding for rule in rules if (finding := rule(evidence))]


def _idle_gpu(evidence: Evidence) -> Finding | None:
    """Report a program that ran on the CPU of a machine that has a GPU."""
    if evidence.overview.summary["device_cores"] or (evidence.ops.table["side"] == "device").any():
        return None
    visible = sum(gpus.visible or 0 for gpus in evidence.gpus)
    if visible:
        said = f"TensorFlow saw {visible} GPU{'s' * (visible != 1)}. No op ran on a GPU."
        return Finding(
            "high",
            "The program ran on the CPU, although a GPU was visible",
            said,
            _UNUSED,
            proved_by="ops",
            rule=UNUSED.id,
        )
    if any(gpus.has_nvidia and gpus.visible == 0 for gpus in evidence.gpus):
        unseen = "NVIDIA's driver lists a GPU of this machine, and TensorFlow saw none."
        return Finding(
            "high", "TensorFlow does not see this machine's GPU", unseen, _UNSEEN, proved_by="overview", rule=UNSEEN.id
        )
    return None


def _some_idle(evidence: Evidence) -> Finding | None:
    """Report devices without work beside others that have some."""
    idle, count = evidence.idle_devices
    if not idle or not evidence.is_tensorflows:
        return None
    replicas = evidence.ops.table["op_name"].astype(str).str.contains(_OF_REPLICA).any()
    return Finding(
        "info" if replicas else "medium",
        f"{len(idle)} of {count} devices did nothing",
        f"No work was recorded on {', '.join(idle)}.{' Replicas of a strategy ran on the others.' if replicas else ''}",
        _SHARED_ALREADY if replicas else _SHARE_WORK,
        proved_by=IDLE.page,
        rule=IDLE.id,
    )


def _launching(evidence: Evidence) -> Finding | None:
    """Report time spent on launching kernels, where that is since these are short."""
    percent = evidence.percent("kernel_launch")
    if percent < LAUNCHES.moderate or not evidence.is_tensorflows:
        return None
    typical_us = _typical_run_us(evidence.ops.table[evidence.ops.table["side"] == "device"])
    if not typical_us < _SHORT_KERNEL_US:
        return None
    return Finding(
        severity_of(percent, LAUNCHES.moderate, LAUNCHES.high),
        "Launching kernels takes time",
        f"{evidence.of_step('kernel_launch_ms')} is spent launching kernels: half of the ops keep the device busy "
        f"for less than {_units.microseconds(typical_us)} each.",
        f"Let XLA fuse ops into fewer kernels: {_fusing(evidence)}.",
        percent,
        proved_by=LAUNCHES.page,
        rule=LAUNCHES.id,
    )


def _slow_start(evidence: Evidence) -> Finding | None:
    """Report an op that ran once, in a step, and took the host much longer to start than the device to compute."""
    on_gpu = evidence.is_tensorflows and "GPU" in str(evidence.overview.summary["device_type"])
    if not on_gpu or evidence.percent("host_compute") < FIRST_RUN.moderate:
        return None
    by_side = dict(iter(evidence.ops.table.groupby("side")))
    if set(by_side) != {"host", "device"}:
        return None
    on_host, on_device = (by_side[side].set_index("op_name")["self_us"] for side in ("host", "device"))
    once = by_side["host"].set_index("op_name")["occurrences"] == 1
    started = on_host[once & on_host.index.isin(on_device.index)]
    measured = evidence.steps.measured
    steps_us, alone_us = 1000 * float(measured["step_ms"].sum()), 1000 * float(measured["host_compute_ms"].max())
    if not len(started) or not FIRST_RUN.moderate * steps_us / 100 <= started.max() <= 1.01 * alone_us:
        return None  # little, or not while the device was idle
    name, host_us = str(started.idxmax()), float(started.max())
    device_us = float(on_device[on_device.index == name].sum())
    if host_us < _STARTING_TIMES * device_us:
        return None
    return Finding(
        "medium",
        f"{_units.shorten(name, 60)} took long to start",
        f"It ran once, for {_units.microseconds(device_us)} on the GPU, and took {_units.microseconds(host_us)} on the "
        "host.",
        _LATER,
        proved_by="ops",
        op_name=str(name),
        rule=FIRST_RUN.id,
    )


def _fusing(evidence: Evidence) -> str:
    """Return how to turn XLA on: by the way in which the program trains, where it is known."""
    if evidence.steps.table["epoch"].notna().any():
        return "jit_compile=True in model.compile"
    if len(evidence.python.table):
        return "@tf.function(jit_compile=True) on the function of a step"
    return "jit_compile=True in model.compile, or @tf.function(jit_compile=True)"


def _idle_between_kernels(evidence: Evidence) -> Finding | None:
    """Report devices without work in much of each step, for frameworks without rules of their own about the causes."""
    numbers = evidence.overview.summary
    percent = sum(map(evidence.percent, _WITHOUT_DEVICES))
    on_tpu = str(numbers["device_type"]).startswith("TPU")  # which runs whole programs
    fix = _KEEP_BUSY.get(numbers["framework"])
    if not fix or on_tpu or not numbers["device_cores"] or percent < GAPS.moderate:
        return None
    idle_ms = sum(evidence.steps.summary[f"{part}_ms_mean"] for part in _WITHOUT_DEVICES)
    step = _units.milliseconds(evidence.steps.summary["step_ms_mean"])
    return Finding(
        severity_of(percent, GAPS.moderate, GAPS.high),
        "The device is idle in much of each step",
        f"In {_units.milliseconds(idle_ms)} of the average step's {step} no kernel and no copy runs.",
        fix,
        proved_by=GAPS.page,
        rule=GAPS.id,
    )


def _copying(evidence: Evidence) -> Finding | None:
    """Report a TPU that waits for asynchronous copies."""
    percent = evidence.percent("device_to_device")
    if not str(evidence.overview.summary["device_type"]).startswith("TPU") or percent < TPU_COPIES.moderate:
        return None
    copies = evidence.ops.table[evidence.ops.table["op_type"].astype(str).str.match("copy-|async-copy")]
    names = ", ".join(_units.shorten(str(name), 40) for name in copies["op_name"].head(3))
    return Finding(
        severity_of(percent, TPU_COPIES.moderate, TPU_COPIES.high),
        "The TPU waits for copies",
        f"{evidence.of_step('device_to_device_ms')} is spent waiting for copies{names and f', most for {names}'}.",
        _FEWER_COPIES,
        proved_by=TPU_COPIES.page,
        rule=TPU_COPIES.id,
    )


def _typical_run_us(ops: pd.DataFrame) -> float:
    """Return how long the median run of an op keeps the device busy; NaN without ops."""
    each = (ops["self_us"] / ops["occurrences"]).sort_values()
    runs = ops["occurrences"].loc[each.index].cumsum()
    return float(each.iloc[int(np.searchsorted(runs, runs.iloc[-1] / 2))]) if len(ops) else float("nan")
