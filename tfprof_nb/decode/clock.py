"""The times of a Chrome trace: from microseconds, of any clock, to picoseconds since the start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._errors import BadProfileError
from tfprof_nb._units import PS_PER_US

# What comes this long before the first event, and is longer than the trace, is a clock's reading and no waiting.
_WAITING_US = 60e6
_EPOCH_US = (946_684_800e6, 4_102_444_800e6)  # the years 2000 to 2100
_LIMIT_US = 9e12  # what int64 holds in picoseconds


@dataclass(frozen=True)
class Clock:
    """How a trace tells time.

    Attributes
    ----------
    zero_us
        The reading at time 0.
    origin_ns
        The same in nanoseconds since 1970, where the clock counts from there; else 0.
    notes
        What was wrong with the times.
    """

    zero_us: float
    origin_ns: int
    notes: tuple[str, ...]

    def start_ps(self, ts_us: pd.Series[Any]) -> Int64:
        """Return when events start; readings of a clock are too long for a float to tell more than nanoseconds."""
        unit = 1000 if self.zero_us else 1
        starts: Int64 = np.rint((ts_us.to_numpy() - self.zero_us) * (PS_PER_US // unit)).astype(np.int64) * unit
        return starts

    def length_ps(self, dur_us: pd.Series[Any]) -> Int64:
        """Return how long events are."""
        lengths: Int64 = np.rint(dur_us.to_numpy().clip(0) * PS_PER_US).astype(np.int64)
        return lengths


def read_clock(events: pd.DataFrame, source: str) -> Clock:
    """Find out how a trace tells time.

    Raises
    ------
    BadProfileError
        The trace spans more than 104 days.
    """
    first = float(events["ts_us"].min()) if len(events) else 0.0
    last = float((events["ts_us"] + events["dur_us"]).max()) if len(events) else 0.0
    zero = first if first < 0 or first > max(_WAITING_US, last - first) else 0.0
    if last - zero > _LIMIT_US:
        raise BadProfileError(
            f"{source}: the events lie {(last - zero) / 8.64e10:,.0f} days apart. Times in a Chrome trace are "
            "microseconds: the program that wrote it may have taken others."
        )
    backwards = int((events["dur_us"] < 0).sum())
    note = f"{backwards:,} events of a negative length are taken for instants."
    since_1970 = _EPOCH_US[0] < zero < _EPOCH_US[1]
    return Clock(zero, int(zero) * 1000 + round(zero % 1 * 1000) if since_1970 else 0, (note,) if backwards else ())
