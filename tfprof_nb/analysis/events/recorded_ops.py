"""When ops were recorded: all the time, or but for stretches that events mark (`capture.detail`)."""

from typing import NamedTuple

import numpy as np

from tfprof_nb._arrays import Bools, Int64
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


def recorded_ops(forest: Forest) -> Windows:
    """Return when ops of a host were recorded."""
    begins, ends = (np.sort(forest.host.start_ps[np.flatnonzero(forest.named(name))]) for name in (OPS_BEGIN, OPS_END))
    return Windows(np.append(0, begins), np.append(ends, _ALWAYS)[: len(begins) + 1])
