"""What a change gained: the time of the same work before and after, and whether chance or other programs explain it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from tfprof_nb._arrays import Floats
from tfprof_nb.analysis.compare.between_runs import MIN_VALUES, SIGNIFICANCE, chance, ratio, ratio_interval
from tfprof_nb.analysis.compare.pace import UNITS, Pace

Verdict = Literal["faster", "slower", "no difference", "too small to tell"]

CAPTURE = "capture"
# Machines drift by 10% to 20% within minutes: of 20 pairs of identical captures, 3 differed by more than 5%, and so did
# 12 of 20 pairs of five captures each, one five after the other.
_MIN_MARGIN, _DRIFT = 0.20, 0.10  # what a few captures tell at best; what the interval of many must exceed
_UNKNOWN_MARGIN, _MAX_MARGIN = 0.25, 0.5  # of runs with few steps; of uneven runs, at most
_LOAD = 0.6  # of the share of the processors that other programs took: they disturb even where both runs had them
_STEP_SIGNIFICANCE = 0.02  # stricter, since it is asked second
_SPREADS = 2.0  # so many standard deviations count as a difference
_DILUTED = 0.25  # a gain of the captures is smaller by more than this, as a logarithm


@dataclass(frozen=True, eq=False)
class Headline:
    """The time of the same work, before and after.

    Attributes
    ----------
    unit
        What the time is of: one of `UNITS`, or a whole capture.
    whole
        Whether it is that of the whole capture, divided, because both did as much; else it is that from the first step
        to the last.
    before, after
        Times in ms, one per run.
    scales
        What times of each run are divided by, per side.
    in_turn
        Whether the runs of both sides took turns; they then stand in the order of time.
    longer
        Where whole captures are compared because what they do once hides most of the change: the time of an example (or
        batch, or step), which longer training comes near to.
    """

    unit: str
    whole: bool
    before: Floats
    after: Floats
    scales: tuple[Floats, Floats]
    in_turn: bool = False
    longer: Headline | None = None

    @property
    def medians(self) -> tuple[float, float]:
        """The median run of each side."""
        return float(np.median(self.before)), float(np.median(self.after))

    @property
    def speedup(self) -> float:
        """How many times faster it became."""
        return ratio(self.before, self.after, in_turn=self.in_turn)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the speedup, NaN from few runs."""
        return ratio_interval(self.before, self.after, in_turn=self.in_turn)

    @property
    def p_value(self) -> float:
        """The probability of such a difference by chance, NaN from few runs."""
        return chance(self.before, self.after, in_turn=self.in_turn)


def headline(before: Sequence[Pace], after: Sequence[Pace], *, in_turn: bool = False) -> Headline:
    """Find what can be compared: the time of an example, else of a batch or a marked step, else of the captures.

    Captures that did as much are compared as a whole, too, where making the model and tracing its functions take so
    much of them that people who time the cell find much less changed.
    """
    found = _by_work(before, after, in_turn=in_turn)
    if found.unit == CAPTURE or not found.whole:
        return found
    times = [np.array([run.duration_ms - run.removing_ms for run in side]) for side in (before, after)]
    scales = np.ones(len(before)), np.ones(len(after))
    captures = Headline(CAPTURE, True, times[0], times[1], scales, in_turn, found)
    return captures if _is_diluted(captures, found) else found


def _is_diluted(captures: Headline, found: Headline) -> bool:
    """Whether whole captures changed in the same direction, but much less."""
    if not (captures.speedup > 0 and found.speedup > 0):
        return False
    whole, work = math.log(captures.speedup), math.log(found.speedup)
    return whole * work > 0 and abs(work) - abs(whole) > _DILUTED


def _by_work(before: Sequence[Pace], after: Sequence[Pace], *, in_turn: bool) -> Headline:
    """Find the finest unit of work that all runs can count."""
    runs = [*before, *after]
    unit = next((unit for unit in UNITS if all(run.amounts.get(unit) for run in runs)), CAPTURE)
    whole = unit == CAPTURE or all(_as_much(*pair, unit) for pair in product(before, after))
    amounts = [[run.amounts.get(unit, 1.0) for run in side] for side in (before, after)]
    if whole:  # what differs is how far the last batch was filled
        same = min(min(side) for side in amounts)
        amounts = [[same] * len(side) for side in amounts]
    cold = any(run.cold for run in runs)
    times = [
        [run.duration_ms if unit == CAPTURE else _time(run, whole=whole, cold=cold) for run in side]
        for side in (before, after)
    ]
    scales = np.array(amounts[0]), np.array(amounts[1])
    return Headline(unit, whole, np.array(times[0]) / scales[0], np.array(times[1]) / scales[1], scales, in_turn)


def _as_much(one: Pace, other: Pace, unit: str) -> bool:
    """Whether two runs did the same work; with different batch sizes, the last batch of an epoch may be partial."""
    if (one.batch, one.per_execution) == (other.batch, other.per_execution):
        return one.amounts[unit] == other.amounts[unit]
    last = max(one.batch or 1, other.batch or 1) if unit == "example" else 1
    return abs(one.amounts[unit] - other.amounts[unit]) <= max(one.epochs, other.epochs) * last


def _time(run: Pace, *, whole: bool, cold: bool) -> float:
    if not whole:
        return run.steps_ms
    return run.steps_ms + run.after_ms + (0.0 if cold else run.before_ms)


def verdict(found: Headline, least: float, explained: float = 0.0, step: tuple[float, float] = (0.0, 1.0)) -> Verdict:
    """Say whether it became faster.

    Repeats are judged by the test between runs. Of runs that took turns, a short burst of other programs' work disturbs
    the time of a run, but hardly its median step, so that of equal steps is asked, too; of others, the interval must
    exceed what the machine may have drifted. Fewer runs are judged by the least difference that they tell, and by what
    the load of other programs explains (see `explained_by_load`).

    Parameters
    ----------
    least
        The least difference that such runs tell (see `margin`).
    explained
        What `explained_by_load` returns.
    step
        How much longer the median step became, and the probability of that by chance; if steps do equal work.
    """
    change = math.log(found.speedup) if found.speedup > 0 else 0.0
    direction: Verdict = "faster" if change > 0 else "slower"
    if is_repeated(found) and not math.isnan(found.p_value):
        by_step = found.in_turn and step[1] < _STEP_SIGNIFICANCE and step[0] * change < 0
        if not change or not (found.p_value < SIGNIFICANCE or by_step):
            return "no difference"
        return direction if found.in_turn or _nearest_to_none(found) >= math.log1p(least) else "too small to tell"
    beyond = abs(change) - (abs(explained) if change * explained > 0 else 0.0)
    apart = min(found.before) > max(found.after) or max(found.before) < min(found.after)
    return direction if apart and beyond >= math.log1p(least) else "too small to tell"


def _nearest_to_none(found: Headline) -> float:
    """Return the logarithm of the smallest change in the interval, 0 if it holds none."""
    low, high = found.interval
    return max(math.log(low), -math.log(high), 0.0) if low > 0 else 0.0


def margin(found: Headline, spreads: Sequence[float], loads: Sequence[float] = ()) -> float:
    """Return by how much runs must differ to tell, as a share of the time; NaN if chance alone decides.

    Parameters
    ----------
    found
        The times. Repeats that took turns have no margin; those of others is what machines drift.
    spreads
        The relative standard deviation of what was measured: between the parts of a run, or between runs; NaN where it
        is unknown.
    loads
        The share of the processors that other programs took during each run, NaN where it is unknown.
    """
    disturbed = _LOAD * max((load for load in loads if not math.isnan(load)), default=0.0)
    if is_repeated(found):
        return math.nan if found.in_turn else max(_DRIFT, disturbed)
    known = [spread for spread in spreads if not math.isnan(spread)]
    uneven = min(_SPREADS * math.hypot(max(known), float(np.median(known))), _MAX_MARGIN) if known else _UNKNOWN_MARGIN
    return max(uneven, disturbed, _MIN_MARGIN)


def explained_by_load(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the logarithm of the speedup that other programs' share of the processors explains, if it is known."""
    shares = [float(np.median(side)) if len(side) else math.nan for side in (before, after)]
    left = [1 - min(share, 0.99) for share in shares]
    return 0.0 if math.isnan(sum(left)) else math.log(left[1] / left[0])


def is_repeated(found: Headline) -> bool:
    """Whether there are enough runs for statistics between them."""
    return min(len(found.before), len(found.after)) >= MIN_VALUES
