"""Where the bars of a chart stand and how high they are, the same in SVG and bqplot."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfprof_nb._arrays import Bools, Floats, Int64
from tfprof_nb._units import shorten
from tfprof_nb.render.panels import StackedBars

MAX_NAMES = 16
_MIN_SLOTS = 8
# Bars that are so few, and so many times as high as three quarters of all are at most, are cut off, marked or not.
_FEW_SHARE, _FAR_TIMES, _MIN_BARS = 0.1, 3.0, 5
PALE = 0.55  # the opacity of bars that are drawn pale


def bar_axis(x: Floats) -> tuple[float, float, float]:
    """Return the begin and end of the axis below bars, and the slot of one bar; few bars leave room to their right.

    Examples
    --------
    >>> bar_axis(np.array([7.0]))
    (6.5, 14.5, 1.0)
    """
    slot = max(float(np.diff(x).min()) if len(x) > 1 else 1.0, 4 * float(np.spacing(np.abs(x).max())))
    low = float(x.min()) - slot / 2
    return low, max(float(x.max()) + slot / 2, low + _MIN_SLOTS * slot), slot


def bar_width(count: int, slot: float) -> float:
    """Return the width of a bar in its slot; many bars have no gaps between them."""
    return slot * (0.8 if count <= 120 else 1.0)


def bar_names(chart: StackedBars, characters: int) -> list[str]:
    """Return the names below the bars, which share so many characters; none where bars are numbered instead."""
    count = len(chart.names)
    room = characters // max(count, _MIN_SLOTS) - 1
    return [shorten(name, room) for name in chart.names] if count <= MAX_NAMES else []


def stack(series: Sequence[Floats]) -> Floats:
    """Return the upper edge of every layer of a stack, layers x points; missing values count as zero.

    Examples
    --------
    >>> stack([np.array([1.0, 2.0]), np.array([3.0, np.nan])])
    array([[1., 2.],
           [4., 2.]])
    """
    return np.cumsum(np.nan_to_num(np.array(series, dtype=np.float64)), axis=0)


@dataclass(frozen=True)
class DrawnBars:
    """Bars as a chart draws them.

    Attributes
    ----------
    heights
        Layers x bars, in the unit of the chart.
    top
        The highest value on the axis.
    cut
        Per bar, whether it is cut off at the top.
    """

    heights: Floats
    top: float
    cut: Bools

    def reach(self, chart: StackedBars) -> float:
        """Return the height of the drawing: above bars there is room for values of those cut off, and names of gaps."""
        written = self.cut.any() or any(text for _, text in chart.gaps)
        return self.top * (1.14 if written else 1.0)


def cut_off(heights: Floats, marked: Bools) -> DrawnBars:
    """Cut off marked bars, and single high ones, that would dwarf the others, which matter more to a reader.

    The layers of a bar that is cut off keep their proportions.

    Parameters
    ----------
    heights
        Layers x bars.
    marked
        Per bar, whether it is marked.

    Examples
    --------
    >>> drawn = cut_off(np.array([[600.0, 10.0, 12.0], [300.0, 0.0, 0.0]]), np.array([True, False, False]))
    >>> drawn.top, drawn.heights[:, 0].tolist(), drawn.cut.tolist()
    (15.0, [10.0, 5.0], [True, False, False])
    """
    totals = heights.sum(axis=0)
    highest = float(totals.max(initial=0.0))
    others = _highest_usual(totals[~marked])
    top = 1.25 * others if 0 < 2 * others < highest else highest
    cut = totals > top
    return DrawnBars(heights * np.where(cut, top / np.where(cut, totals, 1.0), 1.0), top or 1.0, cut)


def _highest_usual(totals: Floats) -> float:
    """Return the highest of the values, leaving out a few that are many times as high as all the others."""
    if len(totals) < _MIN_BARS:
        return float(totals.max(initial=0.0))
    usual = totals[totals <= _FAR_TIMES * np.quantile(totals, 0.75)]
    few = len(totals) - len(usual) <= max(1.0, _FEW_SHARE * len(totals))
    return float((usual if few else totals).max(initial=0.0))


def gap_places(chart: StackedBars, slot: float) -> Floats:
    """Return where the gaps lie: between the bar that each stands before and the one before that."""
    x = np.asarray(chart.x, dtype=np.float64)
    behind = np.searchsorted(x, [at for at, _ in chart.gaps])
    return np.array([(x[k] + x[k - 1]) / 2 if 0 < k < len(x) else x[min(k, len(x) - 1)] - slot / 2 for k in behind])


def beside(
    written: Sequence[tuple[float, str]], places: Floats, chart: StackedBars, character: float
) -> list[tuple[float, str]]:
    """Return what is written above the bars, with the names of those gaps that have room between the rest.

    Parameters
    ----------
    written
        Values of bars that are cut off, and where they stand.
    places
        Where the gaps are drawn.
    chart
        The chart, with the names of its gaps.
    character
        The width of a character, in the unit of the places.
    """
    chosen = list(written)
    for at, (_, text) in zip(places.tolist(), chart.gaps, strict=True):
        if text and all(abs(at - x) >= character * (len(text) + len(other) + 2) / 2 for x, other in chosen):
            chosen.append((at, text))
    return chosen


def labels_that_fit(at: Floats, values: Floats, width: float) -> Int64:
    """Return the positions of the values that can be written without overlap; larger values take precedence.

    Parameters
    ----------
    at
        Where the middle of each label is.
    width
        The width of a label, in the unit of ``at``.

    Examples
    --------
    >>> labels_that_fit(np.array([0.0, 1.0, 9.0]), np.array([5.0, 7.0, 6.0]), width=4.0).tolist()
    [1, 2]
    """
    chosen: list[int] = []
    for k in np.argsort(-values, kind="stable").tolist():
        if all(abs(at[k] - at[other]) >= width for other in chosen):
            chosen.append(k)
    return np.array(sorted(chosen), dtype=np.int64)
