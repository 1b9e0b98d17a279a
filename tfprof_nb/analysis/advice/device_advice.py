"""What to change about how the program uses its devices."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, severity_of

_LAUNCHING_PERCENT, _HIGH_LAUNCHING_PERCENT = 3.0, 15.0  # of step time (`op_stats_to_overview_page.cc`)
_SHORT_KERNEL_US = 20.0
_UNSEEN = (
    "Check that this TensorFlow is built for GPUs (`pip install tensorflow[and-cuda]`), and what "
    "`tf.config.list_physical_devices('GPU')` and the messages at `import tensorflow` say; then restart the kernel."
)
_UNUSED = (
    "Look for `tf.device('/CPU:0')`, for CUDA_VISIBLE_DEVICES or tf.config.set_visible_devices, and for ops without a "
    "GPU version: `tf.debugging.set_log_device_placement(True)` at the start prints where each op runs."
)


def device_findings(evidence: Evidence) -> list[Finding]:
    """Report a GPU that is not used, and devices that wait for their kernels to be launched."""
    return [finding for finding in (_idle_gpu(evidence), _launching(evidence)) if finding]


def _idle_gpu(evidence: Evidence) -> Finding | None:
    """Report a program that ran on the CPU of a machine that has a GPU."""
    if evidence.overview.summary["device_cores"] or (evidence.ops.table["side"] == "device").any():
        return None
    visible = sum(gpus.visible or 0 for gpus in evidence.gpus)
    if visible:
        said = f"TensorFlow saw {visible} GPU{'s' * (visible != 1)}. No op ran on a GPU."
        return Finding("high", "The program ran on the CPU, although a GPU was visible", said, _UNUSED, proved_by="ops")
    if any(gpus.has_nvidia and gpus.visible == 0 for gpus in evidence.gpus):
        unseen = "NVIDIA's driver lists a GPU of this machine, and TensorFlow saw none."
        return Finding("high", "TensorFlow does not see this machine's GPU", unseen, _UNSEEN, proved_by="overview")
    return None


def _launching(evidence: Evidence) -> Finding | None:
    """Report time spent on launching kernels, where that is since these are short."""
    percent = evidence.percent("kernel_launch")
    if percent < _LAUNCHING_PERCENT or not evidence.is_tensorflows:
        return None
    typical_us = _typical_run_us(evidence.ops.table[evidence.ops.table["side"] == "device"])
    if not typical_us < _SHORT_KERNEL_US:
        return None
    return Finding(
        severity_of(percent, _LAUNCHING_PERCENT, _HIGH_LAUNCHING_PERCENT),
        "Launching kernels takes time",
        f"{evidence.of_step('kernel_launch_ms')} is spent launching kernels: half of the ops keep the device busy "
        f"for less than {_units.microseconds(typical_us)} each.",
        "Let XLA fuse ops into fewer kernels: jit_compile=True in model.compile, or @tf.function(jit_compile=True).",
        percent,
        proved_by="kernels",
    )


def _typical_run_us(ops: pd.DataFrame) -> float:
    """Return how long the median run of an op keeps the device busy; NaN without ops."""
    each = (ops["self_us"] / ops["occurrences"]).sort_values()
    runs = ops["occurrences"].loc[each.index].cumsum()
    return float(each.iloc[int(np.searchsorted(runs, runs.iloc[-1] / 2))]) if len(ops) else float("nan")
