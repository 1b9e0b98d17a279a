"""Memory that grows from step to step, and the op whose tensors stay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb.analysis.memory.memory import Memory

MIN_STEPS, _MIN_BYTES = 8, 16 * 2**20
_MIN_CORRELATION, _MIN_LATER_PART = 0.95, 0.35  # what fills a buffer soon ends to grow
# An op of whose tensors this part of the growth consists is what stays.
_EXPLAINS = 0.5


@dataclass(frozen=True)
class Growth:
    """How an allocator's memory grew over the steps.

    Attributes
    ----------
    first_bytes, last_bytes
        What was in use at the end of the first and of the last step.
    per_step_bytes
        How much more per step, on average.
    op_name, shape, data_type
        The op whose tensors stay, and one of them; empty if no op explains the growth.
    """

    allocator: str
    first_bytes: int
    last_bytes: int
    per_step_bytes: float
    op_name: str
    shape: str
    data_type: str


def growth(memory: Memory, steps: pd.DataFrame) -> Growth | None:
    """Return the largest steady growth of an allocator's memory over the steps, if there is one.

    Parameters
    ----------
    memory
        Memory over time.
    steps
        The steps' table.
    """
    recorded = memory.timeline[memory.timeline["event"] != "sample"]
    ends_ms = np.sort((steps["start_ms"] + steps["step_ms"]).to_numpy(dtype=float))
    if len(ends_ms) < MIN_STEPS:
        return None
    found = [_of_allocator(str(name), own, ends_ms) for name, own in recorded.groupby("allocator", sort=False)]
    return max(filter(None, found), key=lambda one: one.last_bytes - one.first_bytes, default=None)


def _of_allocator(
    name: str, events: pd.DataFrame, ends_ms: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> Growth | None:
    at = np.searchsorted(events["time_ms"].to_numpy(dtype=float), ends_ms, side="right") - 1
    known = at >= 0
    if known.sum() < MIN_STEPS:
        return None
    at = at[known]
    in_use = events["memory_in_use_bytes"].to_numpy(dtype=float)[at]
    grown, steps = in_use[-1] - in_use[0], len(at) - 1
    if grown < _MIN_BYTES or in_use[-1] - in_use[len(at) // 2] < _MIN_LATER_PART * grown:
        return None
    if np.corrcoef(np.arange(len(at)), in_use)[0, 1] < _MIN_CORRELATION:
        return None
    meanwhile = events.iloc[at[0] + 1 : at[-1] + 1]
    stays = meanwhile.groupby(["op_name", "shape", "data_type"])["allocation_bytes"].sum().sort_values()
    op_name, shape, data_type = stays.index[-1] if stays.iloc[-1] >= _EXPLAINS * grown else ("", "", "")
    return Growth(name, int(in_use[0]), int(in_use[-1]), grown / steps, str(op_name), str(shape), str(data_type))
