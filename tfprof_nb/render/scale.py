"""Where an axis puts its ticks, and how many bars a chart can take: shared by SVG, bqplot and text.

In: numbers. Out: numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tfprof_nb._arrays import Bools, Floats, Int64
from tfprof_nb._units import number, shorten
from tfprof_nb.render.panels import Lines, StackedBars

MOST_BARS = 400
MOST_POINTS = 1000
MOST_NAMES = 16
_FEWEST_SLOTS = 8


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return at most ``most`` + 1 round values from ``low`` to ``high``.

    Examples
    --------
    >>> ticks(0, 71.2)
    [0.0, 20.0, 40.0, 60.0]
    >>> ticks(0, 0)
    [0.0]
    """
    if not high > low:
        return [low + 0.0]
    step = _round_step((high - low) / most)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def whole_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Like :func:`ticks`, at whole numbers only: for steps and other counts.

    Examples
    --------
    >>> whole_ticks(0, 3)
    [0.0, 1.0, 2.0, 3.0]
    """
    return [t for t in ticks(low, high, most) if t == round(t)]


def tick_text(value: float) -> str:
    """Write a tick: whole numbers without decimals."""
    return f"{value:,.0f}" if value == round(value) else number(value).rstrip("0").rstrip(".")


def _round_step(raw: float) -> float:
    size = 10.0 ** math.floor(math.log10(raw))
    return next(size * k for k in (1, 2, 5, 10) if size * k >= raw * (1 - 1e-9))


def bar_axis(x: Floats) -> tuple[float, float, float]:
    """Return where the axis under bars begins and ends, and the room of one bar; a few bars don't fill the width.

    Examples
    --------
    >>> bar_axis(np.array([7.0]))
    (6.5, 14.5, 1.0)
    """
    slot = float(np.diff(x).min()) if len(x) > 1 else 1.0
    low = float(x.min()) - slot / 2
    return low, max(float(x.max()) + slot / 2, low + _FEWEST_SLOTS * slot), slot


def bar_width(count: int, slot: float) -> float:
    """Return how wide a bar is in its room: many bars stand side by side without gaps."""
    return slot * (0.8 if count <= 120 else 1.0)


def bar_names(chart: StackedBars, characters: int) -> list[str]:
    """Return what to write below each bar, in a room of so many characters for all; nothing where numbers must do."""
    count = len(chart.names)
    room = characters // max(count, _FEWEST_SLOTS) - 1
    return [shorten(name, room) for name in chart.names] if count <= MOST_NAMES else []


def legend_title(chart: StackedBars) -> str:
    """Say what the numbers in the legend are."""
    return f"{legend_of(chart)}, {chart.y_label}"


def legend_of(chart: StackedBars) -> str:
    """Name what the legend tells of each series."""
    return "mean" if chart.averaged else " → ".join(chart.names)


def written_means(chart: StackedBars) -> list[str]:
    """Write the mean of each series, or its few values; what only marked bars have is said to be theirs."""
    if not chart.averaged:
        return [" → ".join(number(float(value)) for value in one.values) for one in chart.series]
    return [
        f"({chart.marked_label})" if not mean and np.nan_to_num(one.values).any() else number(mean)
        for one, mean in zip(chart.series, means(chart), strict=True)
    ]


def means(chart: StackedBars) -> list[float]:
    """Return the mean of each series over the bars that are not marked; over all bars when every one is marked."""
    marked = np.isin(chart.x, np.asarray(chart.marked))
    counted = ~marked if not marked.all() else np.ones_like(marked)
    return [float(np.nan_to_num(one.values)[counted].mean()) for one in chart.series]


def stack(series: Sequence[Floats]) -> Floats:
    """Return the upper edge of every layer of a stack, layers x points; missing values count as zero.

    Examples
    --------
    >>> stack([np.array([1.0, 2.0]), np.array([3.0, np.nan])])
    array([[1., 2.],
           [4., 2.]])
    """
    return np.cumsum(np.nan_to_num(np.array(series, dtype=np.float64)), axis=0)


def thin_bars(chart: StackedBars, most: int = MOST_BARS) -> tuple[StackedBars, int]:
    """Replace neighbouring bars by their mean when there are more than ``most``.

    Returns
    -------
    chart, per_bar
        The chart to draw, and how many of the original bars each of its bars stands for.
    """
    count = len(chart.x)
    per_bar = -(-count // most)
    if per_bar <= 1:
        return chart, 1
    starts = np.arange(0, count, per_bar)
    sizes = np.diff(np.append(starts, count))
    series = [
        replace(one, values=np.add.reduceat(np.nan_to_num(one.values.astype(np.float64)), starts) / sizes)
        for one in chart.series
    ]
    marked = np.isin(chart.x, np.asarray(chart.marked))
    apart = np.logical_or.reduceat(marked, starts)
    x = np.asarray(chart.x)[starts]
    return replace(chart, x=x, series=series, marked=[float(v) for v in x[apart]], names=()), per_bar


def thin_lines(chart: Lines, most: int = MOST_POINTS) -> tuple[Lines, int]:
    """Keep, of each run of neighbouring points, the one with the highest total when there are more than ``most``.

    Peaks are what a reader looks for in memory and rate curves, so they must survive.
    """
    count = len(chart.x)
    per_point = -(-count // most)
    if per_point <= 1:
        return chart, 1
    total = stack([one.values for one in chart.series])[-1]
    padded = np.full(-(-count // per_point) * per_point, -np.inf)
    padded[:count] = total
    runs = padded.reshape(-1, per_point)
    keep = np.unique(np.r_[0, runs.argmax(axis=1) + np.arange(len(runs)) * per_point, count - 1])
    series = [replace(one, values=np.asarray(one.values)[keep]) for one in chart.series]
    notes = [chart.notes[k] for k in keep] if chart.notes else ()
    return replace(chart, x=np.asarray(chart.x)[keep], series=series, notes=notes), per_point


@dataclass(frozen=True)
class DrawnBars:
    """Bars as a chart draws them: layers x bars, up to where the axis shows values, and which bars are cut off."""

    heights: Floats
    top: float
    cut: Bools

    @property
    def reach(self) -> float:
        """The height that the bars need with what is written above those that are cut off."""
        return self.top * (1.14 if self.cut.any() else 1.0)


def cut_down(heights: Floats, marked: Bools) -> DrawnBars:
    """Cut off marked bars (warm-up) that would dwarf the others, which are what a reader looks for.

    The layers of a bar that is cut off keep their proportions.

    Examples
    --------
    >>> drawn = cut_down(np.array([[600.0, 10.0, 12.0], [300.0, 0.0, 0.0]]), np.array([True, False, False]))
    >>> drawn.top, drawn.heights[:, 0].tolist(), drawn.cut.tolist()
    (15.0, [10.0, 5.0], [True, False, False])
    """
    totals = heights.sum(axis=0)
    highest = float(totals.max(initial=0.0))
    others = float(totals[~marked].max(initial=0.0))
    top = 1.25 * others if 0 < 2 * others < highest else highest
    cut = totals > top
    return DrawnBars(heights * np.where(cut, top / np.where(cut, totals, 1.0), 1.0), top or 1.0, cut)


def with_room(at: Floats, values: Floats, room: float) -> Int64:
    """Return which values can be written side by side, the largest first, each taking so much room.

    Examples
    --------
    >>> with_room(np.array([0.0, 1.0, 9.0]), np.array([5.0, 7.0, 6.0]), room=4.0).tolist()
    [1, 2]
    """
    chosen: list[int] = []
    for k in np.argsort(-values, kind="stable").tolist():
        if all(abs(at[k] - at[other]) >= room for other in chosen):
            chosen.append(k)
    return np.array(sorted(chosen), dtype=np.int64)
