"""SVG of bars: one stacked bar per x, one bar per label."""

from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup

from tfprof_nb._arrays import Bools, Floats
from tfprof_nb._units import Kind, cell, number, shorten
from tfprof_nb.render.bar_layout import (
    PALE,
    DrawnBars,
    bar_axis,
    bar_names,
    bar_width,
    beside,
    cut_off,
    gap_places,
    labels_that_fit,
    stack,
)
from tfprof_nb.render.markup import Attribute
from tfprof_nb.render.panels import Bars, Part, StackedBars
from tfprof_nb.render.readout import hatched_label, legend_title, legend_values, pale_label
from tfprof_nb.render.short_names import short_names
from tfprof_nb.render.svg.picture import INK, WIDTH, Picture, Plot, compact, draw_axes, text_width
from tfprof_nb.render.thinning import MAX_BARS, thin_bars
from tfprof_nb.render.ticks import ticks, whole_ticks

_LEFT, _RIGHT = 52, 16
_LEGEND_LINE, _LEGEND_GAP = 18, 26
_ROW, _ROWS_TOP = 22, 4
_VALUE_LABEL = 46.0
# A mask that lets stripes through: hatched bars are recognisable on white and on black.
_HATCH = Markup(
    '<pattern id="stripes" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path d="M0 0h3v5h-3z" fill="#fff"/></pattern>'
    '<mask id="apart" maskUnits="userSpaceOnUse" x="0" y="0" width="{0}" height="300">'
    '<path d="M0 0h{0}v300h-{0}z" fill="url(#stripes)"/></mask>'
).format(WIDTH)


def stacked_bars(chart: StackedBars, limit: int = MAX_BARS) -> Markup:
    """Draw one bar per x; marked bars are hatched, and cut off if they would dwarf the others."""
    whole = chart
    chart, per_bar = thin_bars(chart, limit)
    x = np.asarray(chart.x, dtype=np.float64)
    marked = np.isin(x, np.asarray(chart.marked, dtype=np.float64))
    drawn = cut_off(np.nan_to_num(np.array([layer.values for layer in chart.series], dtype=np.float64)), marked)
    slot = bar_axis(x)[2]
    plot = _plot(chart, drawn.reach(chart))
    legend = list(_legend(whole, marked=bool(marked.any())))
    picture = Picture(_bars_label(chart, whole), plot.bottom + 52 + _LEGEND_LINE * legend[-1][1])
    x_label = chart.x_label if per_bar == 1 else f"{chart.x_label} (each bar: the mean of {per_bar})"
    names = bar_names(chart, 60)
    draw_axes(
        picture, plot, [] if names else whole_ticks(x.min(), x.max()), ticks(0, drawn.top), x_label, chart.y_label
    )
    for at, name in zip(x, names, strict=False):
        picture.text(plot.x(at), plot.bottom + 16, name, "middle")
    width = max(0.6, plot.width * bar_width(len(x), slot) / (plot.x_high - plot.x_low))
    if marked.any():
        picture.elements.append(_HATCH)
    edges = stack(list(drawn.heights))
    bases = np.vstack([np.zeros(len(x)), edges[:-1]])
    pale = np.isin(x, np.asarray(chart.pale, dtype=np.float64)) & ~marked
    styles: tuple[tuple[Bools, dict[str, Attribute]], ...] = (
        (~marked & ~pale, {}),
        (pale, {"stroke_opacity": PALE}),
        (marked, {"mask": "url(#apart)"}),
    )
    for layer, base, edge in zip(chart.series, bases, edges, strict=True):
        for chosen, style in styles:
            path = _columns(plot, x[chosen], base[chosen], edge[chosen])
            if path:
                picture.path(path, stroke=layer.color, stroke_width=compact(width), **style)
    written = _cut_marks(picture, plot, chart, drawn, width)
    if chart.gaps:
        places = np.array([plot.x(at) for at in gap_places(chart, slot)])
        lines = "".join(f"M{compact(at)} {compact(plot.bottom)}V{compact(plot.y(drawn.top))}" for at in places)
        picture.path(lines, stroke=INK, stroke_width=1, stroke_dasharray="4 3")
        written = beside(written, places, chart, 7.0)
    for at, text in written:
        picture.text(at, plot.y(drawn.top) - 5, text, "middle")
    for x_at, line, label, style in legend:
        base = plot.bottom + 54 + _LEGEND_LINE * (line - 1)
        if style:
            picture.path(f"M{compact(x_at + 5)} {compact(base + 1)}v-10", stroke_width=10, **style)
        picture.text(x_at + (15 if style else 0), base, label)
    return picture.svg()


def _plot(chart: StackedBars, reach: float) -> Plot:
    low, high, _ = bar_axis(np.asarray(chart.x, dtype=np.float64))
    return Plot(_LEFT, 26, WIDTH - _LEFT - _RIGHT, 194, low, high, reach * 1.04)


def stacked_span(chart: StackedBars) -> tuple[float, float]:
    """Return where the first and the last bar stand, as shares of the picture's width."""
    chart, _ = thin_bars(chart)
    plot = _plot(chart, 1.0)
    return plot.x(float(chart.x[0])) / WIDTH, plot.x(float(chart.x[-1])) / WIDTH


def _bars_label(chart: StackedBars, whole: StackedBars) -> str:
    """Return the text for screen readers; ``whole`` is the chart before thinning."""
    values = zip(whole.series, legend_values(whole), strict=True)
    layers = ", ".join(f"{layer.label} {text}" for layer, text in values if text != "0")
    highest = number(float(stack([layer.values for layer in chart.series])[-1].max()))
    bars = f"{chart.title}: {len(chart.x)} bars, highest {highest} {chart.y_label}"
    return f"{bars}; mean: {shorten(layers, 400)}"


def _columns(plot: Plot, x: Floats, low: Floats, high: Floats) -> str:
    """Return a path of bars as vertical strokes, a third of the bytes of rectangles.

    ``x``, ``low`` and ``high`` have one entry per bar, in the units of the axes. Bars below half a pixel are left out.
    """
    shares = (np.minimum(edge / (plot.y_high or 1), 1) for edge in (low, high))
    bottom, top = (np.rint(2 * (plot.top + plot.height * (1 - share))) / 2 for share in shares)
    seen = bottom > top
    places = zip(x[seen], bottom[seen], top[seen], strict=True)
    return "".join(f"M{compact(plot.x(at))} {lower:g}V{upper:g}" for at, lower, upper in places)


def _legend(chart: StackedBars, *, marked: bool) -> Iterator[tuple[float, int, str, dict[str, Attribute]]]:
    """Yield where each entry of the legend stands, in which line, its text and how its box is painted.

    The top layer of the stack comes first, with its mean; then what hatched and pale bars are.
    """
    written = zip(chart.series, legend_values(chart), strict=True)
    shown = [(f"{layer.label} {mean}", layer.color) for layer, mean in written if np.nan_to_num(layer.values).any()]
    entries: list[tuple[str, dict[str, Attribute]]] = [(legend_title(chart), {})]
    entries += [(shorten(label, 60), {"stroke": color}) for label, color in shown[::-1]]
    if marked and chart.marked_label:
        entries.append((hatched_label(shorten(chart.marked_label, 60)), {"stroke": INK, "mask": "url(#apart)"}))
    if chart.pale_label:
        entries.append((pale_label(chart.pale_label), {"stroke": INK, "stroke_opacity": PALE}))
    x, line = float(_LEFT), 1
    for label, style in entries:
        width = text_width(label) + (15 if style else 0)
        if x > _LEFT and x + width > WIDTH - _RIGHT:
            x, line = float(_LEFT), line + 1
        yield x, line, label, style
        x += width + _LEGEND_GAP


def _cut_marks(
    picture: Picture, plot: Plot, chart: StackedBars, drawn: DrawnBars, width: float
) -> list[tuple[float, str]]:
    """Draw a break near the top of each bar that is cut off; return the true heights that have room above them."""
    cut = np.flatnonzero(drawn.cut)
    if not len(cut):
        return []
    middles = np.array([plot.x(at) for at in np.asarray(chart.x)[cut]])
    y, reach = plot.y(drawn.top) + 14, width + 6
    lines = (f"M{compact(x - reach / 2)} {compact(y + d)}l{compact(reach)} -5" for x in middles for d in (0, 5))
    picture.path("".join(lines), stroke=INK, stroke_width=1.6)
    totals = stack([layer.values for layer in chart.series])[-1][cut]
    return [
        (float(middles[k]), cell(float(totals[k]), chart.unit)) for k in labels_that_fit(middles, totals, _VALUE_LABEL)
    ]


def bars(chart: Bars) -> Markup:
    """Draw one horizontal bar per part, with its label before and its value after it."""
    parts = list(chart.parts)
    labels = short_names([part.label for part in parts], 34, chart.trim)
    values = [cell(part.value, chart.unit) for part in parts]
    left = max(map(text_width, labels)) + 10
    room = WIDTH - left - max(map(text_width, values)) - 14
    longest = max(part.value for part in parts) or 1
    picture = Picture(f"{chart.title}: " + ", ".join(_part_labels(parts, chart.unit)), _rows_height(chart))
    for k, (part, label, value) in enumerate(zip(parts, labels, values, strict=True)):
        y = _ROWS_TOP + k * _ROW
        length = max(1.0, room * max(0.0, part.value) / longest)
        picture.text(left - 8, y + 14, label, "end")
        picture.rect(left, y + 2, length, _ROW - 6, part.color, f"{part.label}: {value}")
        picture.text(left + length + 6, y + 14, value)
    return picture.svg()


def _rows_height(chart: Bars) -> int:
    return _ROW * len(chart.parts) + 2 * _ROWS_TOP


def rows_span(chart: Bars) -> tuple[float, float]:
    """Return where the middles of the first and the last bar are, as shares of the picture's height."""
    first, height = _ROWS_TOP + _ROW / 2, _rows_height(chart)
    return first / height, 1 - first / height


def _part_labels(parts: Sequence[Part], unit: Kind, limit: int = 6) -> list[str]:
    """Return label and value of the largest parts, for screen readers."""
    largest = sorted(parts, key=lambda part: -part.value)[:limit]
    return [f"{shorten(part.label, 60)} {cell(part.value, unit)}" for part in largest]


def readable_on(color: str) -> str:
    """Return black or white, whichever has more contrast to a colour (relative luminance of WCAG 2).

    Examples
    --------
    >>> readable_on("#0072B2"), readable_on("#F0E442")
    ('#fff', '#000')
    """
    channels = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#fff"
