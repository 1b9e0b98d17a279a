"""How the program fetches its data: what copies take of it, and its longest wait."""

from typing import Any

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence
from tfprof_nb.analysis.tf_data.tf_data import TfData


def copying_share(evidence: Evidence) -> float:
    """Return the time of copies to the device over the steps' input time, at most 1: some copies overlap computing."""
    ops, input_ms = evidence.ops.table, float(evidence.steps.table["input_ms"].sum())
    copied_us = ops.loc[(ops["side"] == "device") & (ops["op_type"] == "MemcpyHToD"), "self_us"].sum()
    return min(1.0, copied_us / _units.US_PER_MS / input_ms) if input_ms else 0.0


def longest_wait(tf_data: TfData) -> dict[str, Any]:
    """Return where the trace shows the call that is typical of slow ones, and the iterator that delayed it."""
    if not len(tf_data.table):
        return {"proved_by": "input_pipeline"}
    call = tf_data.table.iloc[0]
    return {
        "proved_by": "tf_data",
        "op_name": str(tf_data.summary["bottleneck_long_name"] or ""),
        "start_ms": float(call["start_ms"]),
        "duration_ms": float(call["total_ms"]),
    }
