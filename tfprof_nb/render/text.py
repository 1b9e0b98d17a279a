"""Panels as text, for terminals and ``print``: aligned tables, bars of block characters."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from tfprof_nb._arrays import Floats
from tfprof_nb._units import cell, duration, number, percent, printable, shorten
from tfprof_nb.render.bar_layout import stack
from tfprof_nb.render.diff import diff
from tfprof_nb.render.panels import (
    Bars,
    Beside,
    Box,
    Change,
    Composition,
    Flame,
    Headline,
    HeatMap,
    KeyFigures,
    Lines,
    Network,
    Note,
    Offer,
    Panel,
    Series,
    Split,
    StackedBars,
    Tab,
    Table,
    Tabs,
    Timeline,
)
from tfprof_nb.render.readout import counted, means
from tfprof_nb.render.short_names import short_names
from tfprof_nb.render.svg.heat_map import reduced, shaded
from tfprof_nb.render.table.text import text_table
from tfprof_nb.render.ticks import tick_text

WIDTH = 100
_SPARKS = "▁▂▃▄▅▆▇█"
_SHADES = " ░▒▓█"
_CELLS = "·░▒▓█ "  # the last for cells without a value
_FILLS = "█▓▒░▚▞"
_MAX_TRACKS = 24
_MARKS = {"answer": "", "advice": "→ ", "info": "", "warning": "! ", "empty": "– "}


def text_view(title: str, panels: Sequence[Panel]) -> str:
    """Return a title and panels as text. A name in it begins no line of its own."""
    head = [shorten(title, WIDTH), "─" * min(len(title), WIDTH)] if title else []
    lines = (line.replace("\n", " ") for line in (*head, *_paragraphs(panels)))
    return printable("\n".join(lines)).rstrip() + "\n"


def _paragraphs(panels: Iterable[Panel]) -> Iterable[str]:
    for panel in panels:
        yield from draw(panel)
        yield ""


def draw(panel: Panel) -> list[str]:
    """Return the lines of one panel."""
    match panel:
        case Note():
            mark = _MARKS[panel.kind]
            lines = panel.text.split("\n")
            text = [part for line in lines for part in _wrap(mark + line, indent=len(mark))]
            return [*text, *textwrap.indent(panel.code, "    ").splitlines()]
        case Headline():
            beside = f"{panel.gain} ({panel.ground})" if panel.gain and panel.ground else panel.gain or panel.ground
            return [*_wrap(panel.text), *(_wrap(beside) if beside else [])]
        case Change():
            return [*_change(panel), *(["", *draw(panel.offer)] if panel.offer else ())]
        case Composition():
            return [f"{panel.title} ({panel.about})" if panel.about else panel.title, *_composition(panel)]
        case Offer():
            return draw(panel.note)
        case KeyFigures():
            width = max((len(figure.label) for figure in panel.figures), default=0)
            return [shorten(f"{figure.label:<{width}}  {figure.value}", WIDTH) for figure in panel.figures]
        case Split():
            return _titled(panel.title, _split(panel))
        case Bars():
            return _titled(panel.title, _bars(panel))
        case Network():
            return _titled(panel.title, _network(panel))
        case Flame():
            return _titled(panel.title, _flame(panel))
        case HeatMap():
            return _titled(panel.title, _heat_map(panel))
        case StackedBars():
            return _titled(f"{panel.title} ({panel.about})" if panel.about else panel.title, _stacked(panel))
        case Lines():
            return _titled(panel.title, _lines(panel))
        case Table():
            return _titled(panel.title, text_table(panel, WIDTH))
        case Timeline():
            return _titled(panel.title, _timeline(panel))
        case Beside():
            return list(_paragraphs(panel.panels))[:-1]
        case Tabs():
            return [line for tab in panel.tabs[: panel.shown] for line in _page(panel, tab)]


def _change(panel: Change) -> list[str]:
    """Write where and what to change, the diff, now and then, and why."""
    where = ": ".join(filter(None, (panel.place, panel.action)))
    gain = f" ({panel.gain})" if panel.folded and panel.gain else ""
    lines = [f"    {line.sign} {line.text}" for line in diff(panel.old, panel.new)] if panel.new else []
    width = max((len(bar.label) for bar in panel.bars), default=0)
    bars = [f"    {bar.label:<{width}}  {bar.text}" for bar in panel.bars]
    head = _wrap(f"→ {where}{gain}", indent=2) if where or gain else []
    return [*head, *lines, *bars, *(_wrap(panel.text) if panel.text else [])]


def _composition(panel: Composition) -> list[str]:
    shares = [percent(100 * part.value / panel.whole) if panel.whole > 0 else "" for part in panel.parts]
    parts = [
        replace(part, label=" ".join(filter(None, (part.label.replace("`", ""), part.place, share))))
        for part, share in zip(panel.parts, shares, strict=True)
    ]
    return _bars(Bars("", parts, panel.unit), 30)


def _page(tabs: Tabs, tab: Tab) -> list[str]:
    if tabs.kind == "tabs":
        return ["", f"── {tab.name} ".ljust(44, "─"), "", *_paragraphs(tab.open())]
    return [f"{tabs.label}: {shorten(tab.name, WIDTH - 20)}", "", *_paragraphs(tab.open())]


def _wrap(line: str, indent: int = 0) -> list[str]:
    return textwrap.wrap(line, WIDTH, subsequent_indent=" " * indent) or [""]


def _titled(title: str, lines: list[str]) -> list[str]:
    return [title, *lines] if title else lines


def _split(panel: Split) -> list[str]:
    parts = [part for part in panel.parts if part.value > 0]
    whole = sum(part.value for part in parts)
    if not parts:
        return ["– Nothing to draw."]
    edges = np.rint(np.cumsum([0.0, *(part.value for part in parts)]) / whole * (WIDTH - 2)).astype(int)
    fills = [_FILLS[k % len(_FILLS)] for k in range(len(parts))]
    bar = "".join(fill * int(width) for fill, width in zip(fills, np.diff(edges), strict=True))
    legend = [
        f"{fill} {part.label} {cell(part.value, panel.unit)} ({percent(100 * part.value / whole)})"
        for fill, part in zip(fills, parts, strict=True)
    ]
    return [f"|{bar}|", *_wrap("   ".join(legend))]


def _bars(panel: Bars, room: int = 40) -> list[str]:
    longest = max((part.value for part in panel.parts), default=0) or 1
    width = min(84 - room, max((len(part.label) for part in panel.parts), default=0))
    lengths = [round(room * max(0.0, part.value) / longest) for part in panel.parts]
    labels = short_names([part.label for part in panel.parts], width, panel.trim)
    return [
        f"{label:<{width}}  {'█' * length} {cell(part.value, panel.unit)}"
        for part, label, length in zip(panel.parts, labels, lengths, strict=True)
    ] or ["– Nothing to draw."]


def _network(panel: Network, most: int = 40) -> list[str]:
    """Write a line per box, with the boxes that feed it where that is not just the one above."""
    if not panel.boxes:
        return ["– Nothing to draw."]
    rows = []
    for k, box in enumerate(panel.boxes[:most]):
        above = list(box.inputs) == [k - 1] or not box.inputs
        sources = "" if above else "  ← " + ", ".join(panel.boxes[source].name for source in box.inputs)
        bar = "█" * round(10 * box.share)
        rows.append(shorten(f"{percent(100 * box.share):>6} {bar:<10} {_named(box)}  ({box.lines[0]}){sources}", WIDTH))
    return [*rows, *([f"{len(panel.boxes) - most} more"] if len(panel.boxes) > most else [])]


def _named(box: Box) -> str:
    return f"{box.name}, {box.mark}" if box.mark else box.name


def _heat_map(panel: HeatMap, most: int = 16) -> list[str]:
    """Write a line of shades per row, the first rows only."""
    if not np.isfinite(panel.values).any():
        return ["– Nothing to draw."]
    shades, bounds = shaded(reduced(panel.values))
    names = [shorten(name, 18) for name in panel.rows[:most]]
    rows = [
        f"{name:<{max(map(len, names))}} {''.join(_CELLS[shade] for shade in row)}"
        for name, row in zip(names, shades.tolist(), strict=False)
    ]
    more = [f"{len(panel.rows) - most} more"] if len(panel.rows) > most else []
    meaning = ", ".join(f"{_CELLS[k]} from {cell(float(bound), panel.unit)}" for k, bound in enumerate(bounds))
    columns = f"{panel.column_label} {panel.columns[0]} to {panel.columns[-1]}"
    return [*rows, *more, f"{columns}; {meaning}"]


def _flame(panel: Flame, least: float = 0.02, most: int = 24) -> list[str]:
    """Indent what each box holds; boxes with less than a part of the whole are left out."""
    frame = panel.frame
    if frame.empty:
        return ["– Nothing to draw."]
    shares = frame["total"] / frame["total"].iloc[0]
    seen = frame.assign(share=shares)[shares >= least].head(most)
    return [
        shorten(f"{percent(100 * row.share):>6} {'█' * round(10 * row.share):<10} {'  ' * row.depth}{row.label}", WIDTH)
        for row in seen.rename(columns={"name": "label"}).itertuples(name="Box")
    ]


def spark(values: Floats, limit: int = 80) -> str:
    """Draw values as a row of block characters from zero up; more than ``limit`` values are averaged.

    Examples
    --------
    >>> spark(np.array([0.0, 4.0, 8.0]))
    '▁▅█'
    """
    values = np.nan_to_num(np.asarray(values, dtype=np.float64))
    if len(values) > limit:
        values = np.array([chunk.mean() for chunk in np.array_split(values, limit)])
    top = values.max(initial=0) or 1
    return "".join(_SPARKS[k] for k in np.ceil(values.clip(0) / top * 7).astype(int))


def _stacked(panel: StackedBars) -> list[str]:
    if not len(panel.x) or not panel.series:
        return ["– Nothing to draw."]
    total = stack([layer.values for layer in panel.series])[-1]
    used = counted(panel)
    if len(total) == 1:
        parts = ", ".join(
            f"{layer.label} {number(mean)}" for layer, mean in zip(panel.series, means(panel), strict=True) if mean
        )
        return [f"{panel.x_label} {tick_text(panel.x[0])}; {panel.y_label}: {number(total[0])}", *_wrap(parts)]
    figures = f"mean {number(total[used].mean())}, min {number(total[used].min())}, max {number(total[used].max())}"
    without = f" without {panel.marked_label}" if panel.marked_label and not used.all() else ""
    span = f"{panel.x_label} {tick_text(panel.x[0])} to {tick_text(panel.x[-1])}"
    return [spark(total), f"{span}; {panel.y_label}: {figures}{without}", *_means(panel)]


def _means(panel: StackedBars) -> list[str]:
    labelled = zip(panel.series, means(panel), strict=True)
    return _wrap("mean: " + ", ".join(f"{layer.label} {number(mean)}" for layer, mean in labelled if mean), indent=6)


def _lines(panel: Lines) -> list[str]:
    if not len(panel.x) or not panel.series:
        return ["– Nothing to draw."]
    width = min(24, max(len(curve.label) for curve in panel.series))
    labels = [f"{shorten(curve.label, width):<{width}}" for curve in panel.series]
    rows = [
        f"{label}  {spark(curve.values, 50)}  max {_highest(curve)}"
        for label, curve in zip(labels, panel.series, strict=True)
    ]
    if panel.percent:
        rows.append(f"{shorten(panel.percent.label, 24)}  max {_highest(panel.percent)}")
    return [*rows, f"{panel.y_label} over {panel.x_label} {tick_text(panel.x[0])} to {tick_text(panel.x[-1])}"]


def _highest(curve: Series) -> str:
    return number(float(np.nan_to_num(curve.values).max()))


def _timeline(panel: Timeline, bins: int = 64) -> list[str]:
    busy, labels = panel.source.overview(bins)
    hidden = max(0, len(labels) - _MAX_TRACKS)
    busy, labels = busy[:_MAX_TRACKS], labels[:_MAX_TRACKS]
    span = duration(float(panel.source.header()["span_ps"]))  # type: ignore[arg-type]
    levels = np.ceil(np.clip(busy, 0, 1) * 4).astype(int)
    shades = ["".join(_SHADES[k] for k in row) for row in levels]
    rows = [f"{shorten(label, 30):<30} |{shade}|" for label, shade in zip(labels, shades, strict=True)]
    more = [f"{hidden:,} more tracks in .table"] if hidden else []
    return [*rows, f"{'':30} 0{span:>{bins}}", *more]
