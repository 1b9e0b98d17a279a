"""Durations whose sum int64 holds."""

import numpy as np

from tfprof_nb._arrays import Int64

_MAX_SUM_PS = 1 << 60  # 320 hours: int64 holds the sum of several hosts


def cut_lengths(duration_ps: Int64) -> tuple[str, ...]:
    """Cut durations, in place, if their sum is one that no capture has; return a note on that."""
    if duration_ps.sum(dtype=np.float64) <= _MAX_SUM_PS:
        return ()
    longest = _MAX_SUM_PS // duration_ps.size
    cut = int((duration_ps > longest).sum())
    np.minimum(duration_ps, longest, out=duration_ps)
    return (f"{cut:,} events are so long that all events together last for weeks. They are shown cut.",)
