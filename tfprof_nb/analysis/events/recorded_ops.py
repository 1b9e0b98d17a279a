"""When ops were recorded: all the time, or but for stretches that events mark (`capture.detail`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Floats, Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.formats.marks import OPS_BEGIN, OPS_END

_ALWAYS = np.iinfo(np.int64).max


class Windows(NamedTuple):
    """Stretches of time (ps) in order, that do not overlap."""

    start_ps: Int64
    end_ps: Int64

    def hold(self, start_ps: Int64, end_ps: Int64) -> Bools:
        """Return per stretch of time whether it lies in one of these."""
        place = np.searchsorted(self.start_ps, start_ps, side="right") - 1
        return (place >= 0) & (end_ps <= np.append(self.end_ps, -1)[place])


class Factors(NamedTuple):
    """By how much a recorded event stands for those that were not recorded: in number, and in time."""

    number: Floats
    time: Floats


def factors(forest: Forest, table: pd.DataFrame, events: Int64) -> Factors | None:
    """Return by how much each of some events stands for others; None where all were recorded.

    ``table`` has the host's steps: those without recorded ops are taken to be like the others of their phase.
    """
    recorded = table["ops_recorded"].to_numpy(dtype=bool)
    if recorded.all() or not recorded.any():
        return None
    number, time = np.ones(len(events)), np.ones(len(events))
    start = forest.host.start_ps[events]
    for phase in table.loc[~recorded, "phase"].unique():
        mine = (table["phase"] == phase).to_numpy()
        like = table[mine & recorded & ~table["warm_up"].to_numpy(dtype=bool)]
        left = table[mine & ~recorded]
        if like.empty:
            continue
        begin = (like["start_ms"].to_numpy() * PS_PER_MS).astype(np.int64)
        end = begin + (like["step_ms"].to_numpy() * PS_PER_MS).astype(np.int64)
        order = np.argsort(begin, kind="stable")
        within = Windows(begin[order], end[order]).hold(start, start)
        number[within] += len(left) / len(like)
        time[within] += float(left["step_ms"].sum() / like["step_ms"].sum())
    return Factors(number, time)


def recorded_ops(forest: Forest) -> Windows:
    """Return when ops of a host were recorded."""
    begins, ends = (np.sort(forest.host.start_ps[np.flatnonzero(forest.named(name))]) for name in (OPS_BEGIN, OPS_END))
    return Windows(np.append(0, begins), np.append(ends, _ALWAYS)[: len(begins) + 1])
