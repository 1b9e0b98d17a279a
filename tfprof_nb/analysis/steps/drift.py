"""Whether steps became slower while the program ran: from when on, and which part of them grew."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats, Ints
from tfprof_nb.analysis.steps.breakdown import PARTS

_MIN_STEPS = 60
_PARTS = 12  # of the capture, with as many steps each
_ENDS = 3  # parts at the beginning, and at the end
_MIN_RATIO = 1.25
_MOSTLY = 0.5


@dataclass(frozen=True)
class Drift:
    """Steps that became slower.

    Attributes
    ----------
    first_ms, last_ms
        The median step at the beginning and at the end, each of a quarter of the steps.
    since_ms
        From when on most of the difference is there, from the start of the capture.
    part
        The column of the part of a step that grew most, where that is most of the difference; else empty.
    grown_ms
        By how much it grew; NaN without a part.
    """

    first_ms: float
    last_ms: float
    since_ms: float
    part: str = ""
    grown_ms: float = float("nan")


def drift(timed: pd.DataFrame, recorded: pd.DataFrame) -> Drift | None:
    """Return how steps became slower; None if they did not.

    Each part of the capture at its end must be slower than every part at its beginning: one slow step, or one slow
    minute, is no drift.

    Parameters
    ----------
    timed
        The steps whose times count, as in `Steps`.
    recorded
        The steps whose parts are known.
    """
    if len(timed) < _MIN_STEPS:
        return None
    timed = timed.sort_values("start_ms")
    starts = timed["start_ms"].to_numpy()
    slower = slowdown(timed["step_ms"].to_numpy())
    if slower is None:
        return None
    since_ms = float(starts[slower.since])
    grown = _grown(recorded, float(starts[slower.first[-1]]), float(starts[slower.last[0]]))
    if not len(grown) or grown.max() < _MOSTLY * (slower.last_ms - slower.first_ms):
        return Drift(slower.first_ms, slower.last_ms, since_ms)
    return Drift(slower.first_ms, slower.last_ms, since_ms, str(grown.idxmax()), float(grown.max()))


class Slowdown(NamedTuple):
    """Times that grew: their medians at the beginning and at the end, which these are, and from which on they grew."""

    first_ms: float
    last_ms: float
    first: Ints
    last: Ints
    since: int


def slowdown(times_ms: Floats) -> Slowdown | None:
    """Return how times in order grew; None if they did not."""
    parts = np.array_split(np.arange(len(times_ms)), _PARTS)
    medians: Floats = np.array([np.median(times_ms[part]) for part in parts])
    first, last = np.concatenate(parts[:_ENDS]), np.concatenate(parts[-_ENDS:])
    first_ms, last_ms = float(np.median(times_ms[first])), float(np.median(times_ms[last]))
    if last_ms < _MIN_RATIO * first_ms or medians[-_ENDS:].min() <= medians[:_ENDS].max():
        return None
    fast = np.flatnonzero(medians < (first_ms + last_ms) / 2)
    return Slowdown(first_ms, last_ms, first, last, int(parts[min(int(fast.max(initial=-1)) + 1, _PARTS - 1)][0]))


def _grown(recorded: pd.DataFrame, until_ms: float, from_ms: float) -> "pd.Series[float]":
    """Return by how much the median of each part of a step grew from the beginning to the end; nothing if unknown."""
    before, after = recorded[recorded["start_ms"] <= until_ms], recorded[recorded["start_ms"] >= from_ms]
    if not (len(before) and len(after)):
        return pd.Series(dtype=np.float64)
    return after[PARTS].median() - before[PARTS].median()
