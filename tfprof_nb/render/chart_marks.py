"""Marks over the bars of a bqplot chart: stripes on marked bars, a break and the value on bars that are cut off.

In: bars as they are drawn. Out: bqplot marks in the colour of the paper, which the theme sets.
"""

from typing import Any

import bqplot
import ipywidgets
import numpy as np

from tfprof_nb._arrays import Bools, Floats, Int64
from tfprof_nb._units import cell
from tfprof_nb.render.bar_layout import DrawnBars, beside, gap_places, labels_that_fit
from tfprof_nb.render.panels import StackedBars
from tfprof_nb.render.svg.picture import INK


def _of_theme(name: str, light: str) -> str:
    """Return a colour that follows the theme; ipywidgets 7, as in Colab, takes only fixed colours."""
    return f"var(--tfp-{name}, {light})" if int(ipywidgets.__version__.partition(".")[0]) >= 8 else light


_PAPER, _TEXT = _of_theme("paper", "#ffffff"), _of_theme("ink", "#7b7b7b")
# Slopes and distances are made for this area inside the axes, in CSS pixels, as in a notebook of usual width.
_WIDTH, _HEIGHT = 760.0, 222.0
_STRIPES_PX, _SLANT_PX, _LABEL_PX, _CHARACTER_PX = 6.0, 5.0, 46.0, 11.0

Scales = dict[str, Any]  # bqplot's scales by axis, "x" and "y"


def marks(panel: StackedBars, drawn: DrawnBars, marked: Bools, width: float, scales: Scales) -> list[bqplot.Mark]:
    """Return the stripes of marked bars, and the breaks and values of bars that are cut off.

    Parameters
    ----------
    marked
        Per bar, whether it is marked.
    width
        The width of a bar, in the unit of x.
    """
    x, totals = np.asarray(panel.x, dtype=np.float64), drawn.heights.sum(axis=0)
    y_px = scales["y"].max / _HEIGHT
    over: list[bqplot.Mark] = []
    striped = np.flatnonzero(marked & (totals > 0))
    if len(striped):
        lines = _stripes(x[striped], totals[striped], width, scales, y_px)
        over.append(_lines(*lines, scales, 1.6))
    cut = np.flatnonzero(drawn.cut)
    if len(cut):
        over += _breaks(x[cut], width, drawn.top - 14 * y_px, scales, y_px)
    written = _values(panel, cut, scales)
    if panel.gaps:
        at = gap_places(panel, width)
        across, up = np.column_stack([at, at]), np.tile([0.0, drawn.top], (len(at), 1))
        over.append(_lines(across, up, scales, 1.2, INK, "dashed"))
        written = beside(written, at, panel, _wide(_CHARACTER_PX, scales))
    return [*over, *([_label(written, drawn.top + 11 * y_px, scales)] if written else [])]


def paper(panel: StackedBars, drawn: DrawnBars, width: float, scales: Scales) -> bqplot.Bars:
    """Return what lies below pale bars, so that no line of the grid is seen through them; ``width`` is in slots."""
    totals = np.where(np.isin(panel.x, np.asarray(panel.pale)), drawn.heights.sum(axis=0), 0.0)
    return bqplot.Bars(
        x=np.asarray(panel.x, dtype=np.float64), y=totals, scales=scales, colors=[_PAPER], padding=1 - width
    )


def _stripes(x: Floats, heights: Floats, width: float, scales: Scales, y_px: float) -> tuple[Floats, Floats]:
    """Return slanted lines over bars, one path per bar, which connects them along the bar's edges.

    Parameters
    ----------
    x, heights
        The middle and the height of each bar, in the units of the axes.
    width
        The width of a bar, in the unit of x.
    y_px
        The height of one pixel, in the unit of y.

    Returns
    -------
    across, up
        Coordinates of the paths, bars x points.
    """
    rise = width / (scales["x"].max - scales["x"].min) * _WIDTH * y_px
    starts = np.arange(-rise, heights.max(), _STRIPES_PX * y_px)
    low, high = np.broadcast_arrays(starts[None, :], heights[:, None])
    ends = np.stack([np.clip(-low / rise, 0, 1), np.clip((high - low) / rise, 0, 1)], axis=2)
    ends[:, 1::2] = ends[:, 1::2, ::-1]
    across = (x - width / 2)[:, None, None] + width * ends
    up = np.minimum(low[:, :, None] + rise * ends, high[:, :, None])
    return across.reshape(len(x), -1), up.reshape(len(x), -1)


def _breaks(x: Floats, width: float, y: float, scales: Scales, y_px: float) -> list[bqplot.Lines]:
    """Return a slanted gap across each bar at x, with a line on each side of it; ``y`` is its lower end."""
    over = 3 * (scales["x"].max - scales["x"].min) / _WIDTH
    across = np.column_stack([x - width / 2 - over, x + width / 2 + over])
    up = np.tile([y, y + _SLANT_PX * y_px], (len(x), 1))
    sides = [_lines(across, up + shift * y_px, scales, 1.4, INK) for shift in (-3, 3)]
    return [_lines(across, up, scales, 6.0), *sides]


def _lines(
    x: Floats, y: Floats, scales: Scales, stroke: float, color: str = _PAPER, style: str = "solid"
) -> bqplot.Lines:
    return bqplot.Lines(x=x, y=y, scales=scales, colors=[color], stroke_width=stroke, line_style=style)


def _values(panel: StackedBars, cut: Int64, scales: Scales) -> list[tuple[float, str]]:
    """Return the true heights above those bars that have room for it; ``cut`` has the positions of bars cut off."""
    x = np.asarray(panel.x, dtype=np.float64)[cut]
    totals = np.nansum([np.asarray(layer.values, dtype=np.float64)[cut] for layer in panel.series], axis=0)
    shown = labels_that_fit(x, totals, _wide(_LABEL_PX, scales))
    return [(float(x[k]), cell(float(totals[k]), panel.unit)) for k in shown]


def _wide(px: float, scales: Scales) -> float:
    """Return a width in pixels in the unit of x."""
    return float(px * (scales["x"].max - scales["x"].min) / _WIDTH)


def _label(written: list[tuple[float, str]], y: float, scales: Scales) -> bqplot.Label:
    return bqplot.Label(
        x=np.array([at for at, _ in written]),
        y=np.full(len(written), y),
        text=[text for _, text in written],
        scales=scales,
        colors=[_TEXT],
        default_size=12,
        font_weight="normal",
        align="middle",
        apply_clip=False,
    )
