import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import UNKNOWN, Case, Cases, Earlier, Evidence, Rule

_SHORT_KERNEL_US = 20.0

RULE = Rule(
    "kernel-launches",
    "Launching kernels takes time",
    "Looks for time of the steps that goes into launching kernels, where half of the ops keep the device busy for less "
    "than 20 µs.",
    "Launching a kernel takes the host several microseconds. XLA fuses ops into fewer kernels.",
    action="Let XLA compile the step",
    page="kernels",
    moderate=3.0,  # as in `op_stats_to_overview_page.cc`
    high=15.0,
    saved=UNKNOWN,
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    typical_us = _typical_run_us(evidence.ops.table[evidence.ops.table["side"] == "device"])
    if typical_us < _SHORT_KERNEL_US:
        yield Case(
            evidence.percent("kernel_launch"),
            "Launching kernels takes time",
            f"{evidence.of_step('kernel_launch_ms')} is spent launching kernels: half of the ops keep the device busy "
            f"for less than {_units.microseconds(typical_us)} each.",
            f"Let XLA fuse ops into fewer kernels: {_fusing(evidence)}.",
        )


def _fusing(evidence: Evidence) -> str:
    """Return how to turn XLA on: by the way in which the program trains, where it is known."""
    if evidence.steps.table["epoch"].notna().any():
        return "jit_compile=True in model.compile"
    if len(evidence.python.table):
        return "@tf.function(jit_compile=True) on the function of a step"
    return "jit_compile=True in model.compile, or @tf.function(jit_compile=True)"


def _typical_run_us(ops: pd.DataFrame) -> float:
    """Return how long the median run of an op keeps the device busy; NaN without ops."""
    each = (ops["self_us"] / ops["occurrences"]).sort_values()
    runs = ops["occurrences"].loc[each.index].cumsum()
    return float(each.iloc[int(np.searchsorted(runs, runs.iloc[-1] / 2))]) if len(ops) else float("nan")
