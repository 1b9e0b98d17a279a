"""Where an axis puts its ticks, and how many bars a chart can take: shared by SVG, bqplot and text.

In: numbers. Out: numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tfprof_nb._units import number, shorten
from tfprof_nb.render.panels import Floats, Lines, StackedBars

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


def bar_names(chart: StackedBars, characters: int) -> list[str]:
    """Return what to write below each bar, in a room of so many characters for all; nothing where numbers must do."""
    count = len(chart.names)
    room = characters // max(count, _FEWEST_SLOTS) - 1
    return [shorten(name, room) for name in chart.names] if count <= MOST_NAMES else []


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


def bars_top(totals: Floats, marked: npt.NDArray[np.bool_]) -> tuple[float, str]:
    """Return the height that a bar chart shows, and what to say of bars that reach beyond it.

    Marked bars (warm-up) that would dwarf the others are cut off: the others are what a reader looks for.

    Examples
    --------
    >>> bars_top(np.array([900.0, 10.0, 12.0]), np.array([True, False, False]))
    (15.0, ', cut off')
    """
    highest = float(totals.max(initial=0.0))
    others = float(totals[~marked].max(initial=0.0))
    return (1.25 * others, ", cut off") if 0 < 2 * others < highest else (highest, "")
