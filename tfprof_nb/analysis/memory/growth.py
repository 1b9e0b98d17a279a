"""Memory that grows from step to step, and the op whose tensors stay."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.memory.memory import Memory

MIN_STEPS, _MIN_BYTES, _MIN_PROCESS_BYTES = 8, 16 * 2**20, 64 * 2**20
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
    """Return the largest steady growth of an allocator's memory over the steps, if there is one."""
    ends_ms = _ends_ms(steps)
    if len(ends_ms) < MIN_STEPS:
        return None
    in_order = sorted(memory.in_use, key=lambda name: int(memory.in_use[name][0][0]))
    found = [_of_allocator(memory, name, ends_ms) for name in in_order]
    return max(filter(None, found), key=lambda one: one.last_bytes - one.first_bytes, default=None)


def process_growth(memory: Memory, steps: pd.DataFrame, recorded_bytes: float) -> Growth | None:
    """Return the steady growth of the process over the steps, where no allocation was recorded.

    Parameters
    ----------
    recorded_bytes
        What the profiler itself may have taken meanwhile, which is no growth.
    """
    samples = memory.timeline
    samples = samples[samples["event"] == "sample"]
    ends_ms = _ends_ms(steps)
    if len(ends_ms) < MIN_STEPS or len(set(samples["allocator"])) != 1:
        return None
    time_ms = samples["time_ms"].to_numpy(dtype=float)
    in_use = np.interp(ends_ms, time_ms, samples["memory_in_use_bytes"].to_numpy(dtype=float))
    in_use -= recorded_bytes * np.linspace(0, 1, len(ends_ms))
    if not _is_steady(in_use) or in_use[-1] - in_use[0] < _MIN_PROCESS_BYTES:
        return None
    per_step = (in_use[-1] - in_use[0]) / (len(ends_ms) - 1)
    return Growth("The process", int(in_use[0]), int(in_use[-1]), per_step, "", "", "")


def _ends_ms(steps: pd.DataFrame) -> Floats:
    ends: Floats = np.sort((steps["start_ms"] + steps["step_ms"]).to_numpy(dtype=float))
    return ends


def _is_steady(in_use: Floats) -> bool:
    """Whether memory grows until the last step, and evenly; given what was in use at the end of each step."""
    grown = in_use[-1] - in_use[0]
    if grown < _MIN_BYTES or in_use[-1] - in_use[len(in_use) // 2] < _MIN_LATER_PART * grown:
        return False
    return bool(np.corrcoef(np.arange(len(in_use)), in_use)[0, 1] >= _MIN_CORRELATION)


def _of_allocator(memory: Memory, name: str, ends_ms: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Growth | None:
    time_ps, bytes_in_use = memory.in_use[name]
    at = np.searchsorted(time_ps / PS_PER_MS, ends_ms, side="right") - 1
    known = at >= 0
    if known.sum() < MIN_STEPS:
        return None
    at = at[known]
    in_use = bytes_in_use[at].astype(np.float64)
    grown, steps = in_use[-1] - in_use[0], len(at) - 1
    if not _is_steady(in_use):
        return None
    meanwhile = memory.timeline_of(name).iloc[at[0] + 1 : at[-1] + 1]
    stays = meanwhile.groupby(["op_name", "shape", "data_type"])["allocation_bytes"].sum().sort_values()
    op_name, shape, data_type = stays.index[-1] if stays.iloc[-1] >= _EXPLAINS * grown else ("", "", "")
    return Growth(name, int(in_use[0]), int(in_use[-1]), grown / steps, str(op_name), str(shape), str(data_type))
