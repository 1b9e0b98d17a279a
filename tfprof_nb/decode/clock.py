"""The times of a Chrome trace: from microseconds of any clock to picoseconds since the start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._errors import BadProfileError
from tfprof_nb._units import PS_PER_US
from tfprof_nb.decode.host import plausible_ns

# A first time that is above this, and above the length of the trace, is the reading of a clock, not a delay. Only
# profilers that TensorFlow's names tell of count from the start of the capture.
_MAX_DELAY_US, _MAX_OTHERS_DELAY_US = 60e6, 1e6
_EPOCH_US = (946_684_800e6, 4_102_444_800e6)  # the years 2000 to 2100
_MAX_LENGTH_US = 1e12  # int64 holds the sum of a few such times in picoseconds


@dataclass(frozen=True)
class Clock:
    """The clock of a trace.

    Attributes
    ----------
    zero_us
        The reading at time 0.
    origin_ns
        The same in nanoseconds since 1970; 0 if the clock does not count from there.
    notes
        Problems with the times.
    """

    zero_us: float
    origin_ns: int
    notes: tuple[str, ...]

    def start_ps(self, ts_us: pd.Series[Any]) -> Int64:
        """Return when events start. A float64 resolves readings of a clock to nanoseconds at best."""
        unit = 1000 if self.zero_us else 1
        starts: Int64 = np.rint((ts_us.to_numpy() - self.zero_us) * (PS_PER_US // unit)).astype(np.int64) * unit
        return starts

    def length_ps(self, dur_us: pd.Series[Any]) -> Int64:
        """Return the durations of events."""
        lengths: Int64 = np.rint(dur_us.to_numpy().clip(0) * PS_PER_US).astype(np.int64)
        return lengths


def read_clock(events: pd.DataFrame, source: str, *, of_tensorflow: bool = True, base_ns: int = 0) -> Clock:
    """Find the clock of a trace.

    Parameters
    ----------
    events
        With ``ts_us`` and ``dur_us``.
    of_tensorflow
        Whether TensorFlow, or this package, wrote the trace.
    base_ns
        When the clock was 0, in nanoseconds since 1970; 0 if that is unknown.

    Raises
    ------
    BadProfileError
        The trace spans more than 11 days.
    """
    first = float(events["ts_us"].min()) if len(events) else 0.0
    last = float((events["ts_us"] + events["dur_us"]).max()) if len(events) else 0.0
    delay = _MAX_DELAY_US if of_tensorflow else _MAX_OTHERS_DELAY_US
    zero = first if first < 0 or first > max(delay, last - first) else 0.0
    if last - zero > _MAX_LENGTH_US:
        raise BadProfileError(
            f"{source}: the events span {(last - zero) / 8.64e10:,.0f} days. Times in a Chrome trace are in "
            "microseconds: the program that wrote it may have used another unit."
        )
    backwards = int((events["dur_us"] < 0).sum())
    note = f"{backwards:,} events with a negative duration are shown as instants."
    since_1970 = base_ns > 0 or _EPOCH_US[0] < zero < _EPOCH_US[1]
    origin_ns = plausible_ns(base_ns + int(zero) * 1000 + round(zero % 1 * 1000)) if since_1970 else 0
    return Clock(zero, origin_ns, (note,) if backwards else ())
