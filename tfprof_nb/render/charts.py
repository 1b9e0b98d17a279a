"""Charts as bqplot figures, with a legend of our own below them.

In: StackedBars, Bars and Lines panels. Out: widgets. bqplot's own legend covers the bars, the labels of its
ordinal axis overlap at many bars, and its tooltips can't name a series while the kernel is busy. So the axes here are
linear with few ticks, and the legend is a `ReadoutWidget`.
"""

from typing import Any
from uuid import uuid4

import bqplot
import ipywidgets
import numpy as np
import traitlets

from tfprof_nb._arrays import Floats
from tfprof_nb._units import cell
from tfprof_nb.render import chart_marks
from tfprof_nb.render.bar_layout import PALE, bar_axis, bar_names, bar_width, cut_off, stack
from tfprof_nb.render.browser_widgets import ReadoutWidget
from tfprof_nb.render.panels import Bars, Lines, Series, StackedBars
from tfprof_nb.render.readout import readout, used
from tfprof_nb.render.short_names import short_names
from tfprof_nb.render.thinning import thin_bars, thin_lines
from tfprof_nb.render.ticks import ticks, ticks_of, whole_ticks

Scales = dict[str, Any]  # bqplot's scales by axis, "x" and "y"

_ROW = 26
_MAX_LABEL = 40
_LINE_STYLES = ("solid", "dashed", "dotted", "dash_dotted")
_MARGIN = {"top": 8, "bottom": 50, "left": 64, "right": 28}


class Chart(ipywidgets.VBox):  # type: ignore[misc]
    """A figure and its legend. ``picked`` is the x of the selected bar, or None."""

    picked = traitlets.Float(None, allow_none=True)

    def __init__(self, title: str, figure: bqplot.Figure, readout: ReadoutWidget) -> None:
        name = f"tfp-chart-{uuid4().hex[:12]}"
        figure.add_class(name)
        readout.chart, readout.figure, readout.title = name, figure.model_id, title
        super().__init__([figure, readout], layout={"width": "100%", "overflow": "hidden"})
        self.figure, self.readout = figure, readout

    def follow(self, bars: bqplot.Bars, x: Floats) -> None:
        """Synchronise the bar selected in the figure, the one selected in the legend, and ``picked``."""

        def pick(index: int | None) -> None:
            if index is None:
                self.picked = None
            elif self.picked is None or _last_at(x, self.picked) != index:
                self.picked = float(x[index])

        def show(change: Any) -> None:
            index = None if change["new"] is None else _last_at(x, change["new"])
            self.readout.selected = index
            bars.selected = None if index is None else [index]

        bars.observe(lambda change: pick(_first(change["new"])), "selected")
        self.readout.observe(lambda change: pick(change["new"]), "selected")
        self.observe(show, "picked")


def _last_at(x: Floats, value: float) -> int | None:
    """Return the position of the last x at or below a value: of the bar that stands for it; ``x`` ascends."""
    below = np.flatnonzero(x <= value)
    return int(below[-1]) if len(below) else None


def _first(selected: Any) -> int | None:
    return None if selected is None or not len(selected) else int(selected[0])


def stacked_bars(panel: StackedBars) -> Chart:
    """Return one stacked bar per x; marked bars are hatched, and cut off if they would dwarf the others."""
    shown = ReadoutWidget(**readout(panel))
    panel, per_bar = thin_bars(used(panel))
    x = np.asarray(panel.x, dtype=np.float64)
    heights = np.nan_to_num(np.array([layer.values for layer in panel.series], dtype=np.float64))
    low, high, slot = bar_axis(x)
    marked = np.isin(x, np.asarray(panel.marked, dtype=np.float64))
    drawn = cut_off(heights, marked)
    scales = _scales(low, high, drawn.reach(panel))
    bars = _stacked(panel, drawn.heights, slot, scales)
    under = [chart_marks.paper(panel, drawn, bar_width(len(x), 1.0), scales)] if len(panel.pale) else []
    over = chart_marks.marks(panel, drawn, marked, bar_width(len(x), slot), scales)
    x_label = panel.x_label if per_bar == 1 else f"{panel.x_label} (each bar: the mean of {per_bar})"
    names = bar_names(panel, 140)
    x_axis = _x_axis(scales["x"], x.tolist() if names else whole_ticks(x.min(), x.max()), x_label)
    x_axis.tick_labels = {f"{at:g}": name for at, name in zip(x, names, strict=False)}
    axes = [x_axis, _y_axis(scales["y"], drawn.top, panel.y_label)]
    chart = Chart(panel.title, _figure([*under, bars, *over], axes, 280), shown)
    if panel.selects:
        chart.follow(bars, x)
    return chart


def _stacked(panel: StackedBars, heights: Floats, slot: float, scales: Scales) -> bqplot.Bars:
    """Return the bars; ``heights`` are layers x bars.

    bqplot makes bars as wide as their distance, so that a single bar needs an empty neighbour.
    """
    x = np.asarray(panel.x, dtype=np.float64)
    single = len(x) == 1
    return bqplot.Bars(
        x=np.append(x, x + slot) if single else x,
        y=np.pad(heights, ((0, 0), (0, 1))) if single else heights,
        scales=scales,
        type="stacked",
        colors=[layer.color for layer in panel.series],
        opacity_mode="group",  # of a bar
        opacities=np.where(np.isin(x, np.asarray(panel.pale)), PALE, 1.0).tolist(),
        padding=1 - bar_width(len(x), 1.0),
        interactions={"click": "select"} if panel.selects else {},
        unselected_style={"opacity": "0.35"},
    )


def lines(panel: Lines) -> Chart:
    """Return one line, or one stacked area, per series."""
    shown = ReadoutWidget(**readout(panel))
    panel = thin_lines(panel)
    x = np.asarray(panel.x, dtype=np.float64)
    values = np.nan_to_num(np.array([curve.values for curve in panel.series], dtype=np.float64))
    edges = stack(list(values)) if panel.stacked else values
    top = float(edges.max()) or 1.0
    low, high = float(x.min()), float(x.max())
    scales = _scales(low, high if high > low else low + 1, top)
    # Each layer reaches down to the axis, and the next one covers it: the top layer comes first.
    order = range(len(edges))[::-1] if panel.stacked else range(len(edges))
    marks = [_line(panel, k, x, edges[k], scales) for k in order]
    axes = [_x_axis(scales["x"], ticks_of(x), panel.x_label), _y_axis(scales["y"], top, panel.y_label)]
    if panel.percent:
        scales = scales | {"y": bqplot.LinearScale(min=0.0, max=104.0, allow_padding=False)}
        marks.append(_percent_line(panel.percent, x, scales, held=panel.held))
        axes.append(_percent_axis(scales["y"], panel.percent))
        return Chart(panel.title, _figure(marks, axes, 260, _MARGIN | {"right": 52}), shown)
    return Chart(panel.title, _figure(marks, axes, 260), shown)


def _line(panel: Lines, k: int, x: Floats, y: Floats, scales: Scales) -> bqplot.Lines:
    """Return the line of the k-th series, or the area below it; ``x`` and ``y`` have one entry per point."""
    color = [panel.series[k].color]
    return bqplot.Lines(
        x=x,
        y=y,
        scales=scales,
        colors=color,
        interpolation="step-after" if panel.held else "linear",
        fill="bottom" if panel.stacked else "none",
        fill_colors=color,
        fill_opacities=[1.0],
        stroke_width=1 if panel.stacked else 2,
        line_style="solid" if panel.stacked else _LINE_STYLES[k % len(_LINE_STYLES)],
    )


def _percent_line(curve: Series, x: Floats, scales: Scales, *, held: bool) -> bqplot.Lines:
    return bqplot.Lines(
        x=x,
        y=np.nan_to_num(np.asarray(curve.values, dtype=np.float64)),
        scales=scales,
        colors=[curve.color],
        interpolation="step-after" if held else "linear",
        stroke_width=2,
    )


def _percent_axis(scale: bqplot.LinearScale, curve: Series) -> bqplot.Axis:
    return bqplot.Axis(
        scale=scale,
        label=curve.label,
        side="right",
        orientation="vertical",
        tick_values=np.array([0.0, 50.0, 100.0]),
        tick_format="d",
        grid_lines="none",
        color=curve.color,
        label_color=curve.color,
        label_offset="34px",
    )


def bars(panel: Bars) -> Chart:
    """Return one horizontal bar per part, the first on top; its label has the value."""
    parts = list(panel.parts)
    rows = np.arange(len(parts), dtype=np.float64)
    values = np.nan_to_num(np.array([part.value for part in parts], dtype=np.float64))
    scales = _scales(-0.5, len(parts) - 0.5, float(values.max()) or 1.0)
    scales["x"].reverse = True
    # bqplot makes bars as thick as their distance: a single bar needs a neighbour, out of sight.
    mark = bqplot.Bars(
        x=np.append(rows, len(parts)),
        y=np.append(values, 0.0),
        scales=scales,
        orientation="horizontal",
        colors=[part.color for part in [*parts, parts[-1]]],
        color_mode="group",
    )
    written = [cell(part.value, panel.unit) for part in parts]
    labels = short_names([part.label for part in parts], _MAX_LABEL, panel.trim)
    names = {str(k): f"{label}  {written[k]}" for k, label in enumerate(labels)}
    label_axis = bqplot.Axis(
        scale=scales["x"], side="left", tick_values=rows, tick_labels=names, grid_lines="none", num_ticks=None
    )
    margin = {"top": 4, "bottom": 4, "left": 12 + 7 * max(map(len, names.values())), "right": 16}
    figure = _figure([mark], [label_axis], _ROW * len(parts) + 8, margin)
    figure.add_class("tfp-rows")
    return Chart(panel.title, figure, ReadoutWidget(**readout(panel)))


def _scales(low: float, high: float, top: float) -> Scales:
    """Return the scales of x, from low to high, and of y, from zero to a little above the top."""
    return {
        "x": bqplot.LinearScale(min=low, max=high, allow_padding=False),
        "y": bqplot.LinearScale(min=0.0, max=top * 1.04, allow_padding=False),
    }


def _figure(marks: list[Any], axes: list[Any], height: int, margin: dict[str, int] | None = None) -> bqplot.Figure:
    return bqplot.Figure(
        marks=marks,
        axes=axes,
        fig_margin=margin or _MARGIN,
        padding_x=0,
        padding_y=0,
        # bqplot reduces the height to keep these ratios; here only the width follows the notebook cell.
        min_aspect_ratio=0.01,
        max_aspect_ratio=100.0,
        animation_duration=0,
        display_toolbar=False,
        layout={"width": "100%", "height": f"{height}px", "min_width": "0"},
    )


def _x_axis(scale: bqplot.LinearScale, at: list[float], label: str) -> bqplot.Axis:
    return bqplot.Axis(
        scale=scale,
        label=label,
        tick_values=np.array(at),
        tick_format=_tick_format(max(at)),
        grid_lines="none",
        label_offset="36px",
    )


def _y_axis(scale: bqplot.LinearScale, top: float, label: str) -> bqplot.Axis:
    return bqplot.Axis(
        scale=scale,
        label=label,
        side="left",
        tick_values=np.array(ticks(0, top)),
        tick_format=_tick_format(top),
        label_offset="48px",
    )


def _tick_format(top: float) -> str:
    """Return d3's format for ticks up to a value: grouped thousands, no more decimals than needed."""
    return ",.0f" if top >= 5 else ",.3~g"
