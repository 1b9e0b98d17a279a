"""SVG of lines over time, and of the busy times of tracks."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from markupsafe import Markup

from tfprof_nb._arrays import Floats
from tfprof_nb._units import duration, number, shorten
from tfprof_nb.render.bar_layout import stack
from tfprof_nb.render.panels import Lines, Series, Timeline
from tfprof_nb.render.svg.picture import INK, WIDTH, Picture, Plot, compact, draw_axes, draw_legend
from tfprof_nb.render.theme import BLUE
from tfprof_nb.render.thinning import MAX_BARS, thin_lines
from tfprof_nb.render.ticks import ticks, ticks_of

_LEGEND = 150
_PERCENT_AXIS, _PERCENT_TOP = 30, 104.0
_DASHES = ("", "6 3", "2 2", "8 3 2 3")
_BINS = 200
_MAX_TRACKS = 24
_LEVELS = 5


def lines(chart: Lines, limit: int = MAX_BARS) -> Markup:
    """Draw one line or stacked area per series; lines differ in their dashes, too."""
    chart = thin_lines(chart, limit)
    x = np.asarray(chart.x, dtype=np.float64)
    values = [np.nan_to_num(np.asarray(curve.values, dtype=np.float64)) for curve in chart.series]
    edges = stack(values) if chart.stacked else np.array(values)
    top = float(edges.max()) or 1.0
    picture = Picture(f"{chart.title}: highest {number(top)} {chart.y_label}", 250)
    plot = _plot(chart, x, top)
    draw_axes(picture, plot, ticks_of(x), ticks(0, top), chart.x_label, chart.y_label)
    draw = _stairs if chart.held else _points
    paths = [(f"M{draw(plot, x, edge)}", curve.color) for edge, curve in zip(edges, chart.series, strict=True)]
    if chart.stacked:
        # Each layer reaches down to the axis, and the next one covers it: the top layer comes first.
        for path, color in paths[::-1]:
            picture.path(f"{path}V{compact(plot.bottom)}H{compact(plot.left)}Z", fill=color)
    else:
        for k, (path, color) in enumerate(paths):
            picture.path(path, fill="none", stroke=color, stroke_width=1.8, stroke_dasharray=_DASHES[k % len(_DASHES)])
    entries = [(curve.label, curve.color) for curve in chart.series]
    entries = entries[::-1] if chart.stacked else entries
    if chart.percent:
        _draw_percent(picture, replace(plot, y_high=_PERCENT_TOP), x, chart.percent, draw)
        entries.append((chart.percent.label, chart.percent.color))
    draw_legend(picture, WIDTH - _LEGEND, 40, entries)
    return picture.svg()


def _draw_percent(
    picture: Picture, plot: Plot, x: Floats, curve: Series, draw: Callable[[Plot, Floats, Floats], str]
) -> None:
    """Draw a line with its axis to the right; a pale rim keeps it apart from areas of any colour."""
    path = f"M{draw(plot, x, np.nan_to_num(np.asarray(curve.values, dtype=np.float64)))}"
    picture.path(path, fill="none", stroke="#fff", stroke_width=4, stroke_opacity=0.7)
    picture.path(path, fill="none", stroke=curve.color, stroke_width=1.8)
    for tick in (0, 50, 100):
        picture.text(plot.left + plot.width + 6, plot.y(tick) + 4, f"{tick}%", color=curve.color)


def _plot(chart: Lines, x: Floats, top: float) -> Plot:
    width = WIDTH - 62 - _LEGEND - 16 - (_PERCENT_AXIS if chart.percent else 0)
    return Plot(62, 26, width, 174, x.min(), x.max(), top * 1.04)


def lines_span(chart: Lines) -> tuple[float, float]:
    """Return where the first and the last point are, as shares of the picture's width."""
    plot = _plot(chart, np.asarray(chart.x, dtype=np.float64), 1.0)
    return plot.left / WIDTH, plot.x(plot.x_high) / WIDTH


def _points(plot: Plot, x: Floats, y: Floats) -> str:
    return " ".join(f"{compact(plot.x(a))} {round(2 * plot.y(b)) / 2:g}" for a, b in zip(x, y, strict=True))


def _stairs(plot: Plot, x: Floats, y: Floats) -> str:
    """Return a path that is level until the next x, and there goes up or down."""
    first, *others = ((compact(plot.x(a)), f"{round(2 * plot.y(b)) / 2:g}") for a, b in zip(x, y, strict=True))
    return " ".join(first) + "".join(f"H{across}V{level}" for across, level in others)


def timeline(chart: Timeline) -> Markup:
    """Draw one row per track, darker where it is busier; idle times stay empty."""
    busy, labels = chart.source.overview(_BINS)
    span_ps = float(chart.source.header()["span_ps"])  # type: ignore[arg-type]
    shown = min(len(labels), _MAX_TRACKS)
    left, row, top = 190.0, 18.0, 6.0
    picture = Picture(f"{chart.title}: {len(labels)} tracks over {duration(span_ps)}", top + row * shown + 56)
    width = WIDTH - left - 10
    for k in range(shown):
        y = top + row * k + row / 2
        picture.text(left - 8, y + 4, shorten(labels[k], 28), "end")
        _draw_track(picture, busy[k], left, y, width)
    _time_axis(picture, left, top + row * shown, width, span_ps)
    hidden = len(labels) - shown
    note = "darker means busier" + (f"; {hidden} more tracks not shown" if hidden else "")
    picture.text(left, picture.height - 6, note)
    return picture.svg()


def _draw_track(picture: Picture, busy: Floats, left: float, y: float, width: float) -> None:
    """Draw a track as strokes of equal shade; ``busy`` is the share (0 to 1) of each bin, and any work is visible."""
    level = np.ceil(np.clip(busy, 0, 1) * _LEVELS).astype(int)
    starts = np.r_[0, np.flatnonzero(np.diff(level)) + 1]
    ends = np.r_[starts[1:], len(level)]
    scale = width / len(level)
    for shade in range(1, _LEVELS + 1):
        runs = np.flatnonzero(level[starts] == shade)
        path = "".join(
            f"M{compact(left + starts[r] * scale)} {compact(y)}h{compact((ends[r] - starts[r]) * scale)}" for r in runs
        )
        if path:
            picture.path(path, stroke=BLUE, stroke_width=13, stroke_opacity=round(shade / _LEVELS, 2))


def _time_axis(picture: Picture, left: float, y: float, width: float, span_ps: float) -> None:
    picture.path(f"M{compact(left)} {compact(y)}h{compact(width)}", stroke=INK, stroke_opacity=0.6)
    for tick in ticks(0, span_ps):
        x = left + width * tick / (span_ps or 1)
        picture.text(x, y + 16, duration(tick), "middle" if tick else "start")
