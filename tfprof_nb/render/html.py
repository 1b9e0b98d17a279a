"""Panels as HTML without script: inline styles, charts as pictures, everything escaped.

In: panels. Out: HTML text that JupyterLab, GitHub, nbviewer and nbconvert show alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

from tfprof_nb._units import amount, percent, printable, shorten
from tfprof_nb.render.panels import (
    Bars,
    Diagram,
    Figure,
    KeyFigures,
    Lines,
    Link,
    Note,
    Panel,
    Pie,
    Split,
    StackedBars,
    Tab,
    Table,
    Tabs,
    Timeline,
)
from tfprof_nb.render.svg import bars as svg_bars
from tfprof_nb.render.svg import diagram as svg_diagram
from tfprof_nb.render.svg import lines as svg_lines
from tfprof_nb.render.svg import pie as svg_pie
from tfprof_nb.render.svg.picture import data_uri
from tfprof_nb.render.table.embedded import embedded_table
from tfprof_nb.render.table.html import html_table
from tfprof_nb.render.thinning import MAX_BARS
from tfprof_nb.render.timeline.embedded import embedded_timeline

# 64 KB is what an output cell may take; one more is for the rule and the id around it.
STATIC_BYTES = 63 * 1024
_MAX_NOTE = 2000
_TIMELINE_BYTES = 1_000_000
_NOTE_STYLES = {
    "answer": ("font-size:20px;line-height:1.3;font-weight:600;margin:2px 0 6px", ""),
    "advice": ("font-size:14px;line-height:1.45;margin:0 0 8px", "→ "),
    "info": ("font-size:12px;line-height:1.45;opacity:.8;margin:0 0 8px", ""),
    "warning": ("font-size:13px;line-height:1.45;margin:0 0 8px;padding:4px 10px;border-left:3px solid #E69F00", "⚠ "),
    "empty": ("font-size:13px;line-height:1.45;margin:0 0 8px;padding:10px;border:1px dashed #888", ""),
}


@dataclass(frozen=True)
class Detail:
    """How much to show.

    Of a table the rows it asks for, but ``least`` to ``most``; of a cell ``text`` characters; of a chart ``points``
    bars or points. ``links`` to pages are anchors in a document of its own, buttons where a script hears them.
    ``scripted`` embeds what a report's script needs to draw tables and timelines to work with in place of these.
    """

    least: int = 0
    most: int = 1_000_000
    text: int = 80
    points: int = MAX_BARS
    folded: bool = True
    links: Literal["none", "anchors", "buttons"] = "none"
    scripted: bool = False

    def rows(self, panel: Table) -> int:
        """Return how many rows of a table to show."""
        return min(max(panel.rows, self.least), self.most)


_CODE = re.compile(r"`([^`]+)`")
_DETAILS = (Detail(), Detail(points=130), Detail(most=8, text=60, points=130), Detail(most=3, text=40, points=100))


def static_view(title: str, panels: Sequence[Panel], limit: int = STATIC_BYTES) -> str:
    """Draw panels in at most ``limit`` bytes, for an output cell.

    Charts get coarser first, then tables shorter, then whole panels are left out from the end; each says so.
    """
    panels = opened(panels)
    for detail in _DETAILS:
        html = _frame(title, "".join(draw(panel, detail) for panel in panels))
        if len(html.encode()) <= limit:
            return html
    return _frame(title, _as_many_as_fit(panels, _DETAILS[-1], limit - 1000))


def opened(panels: Sequence[Panel]) -> list[Panel]:
    """Make the panels of every page once, so that drawing them again costs nothing."""
    return [_opened_tabs(panel) if isinstance(panel, Tabs) else panel for panel in panels]


def first_pages(panels: Sequence[Panel]) -> list[Panel]:
    """Leave out all pages but the first of each chooser."""
    return [replace(panel, tabs=panel.tabs[:1]) if isinstance(panel, Tabs) else panel for panel in panels]


def _opened_tabs(panel: Tabs) -> Tabs:
    shown = [Tab(tab.name, opened(tab.open()).copy) for tab in panel.tabs[: panel.shown]]
    return replace(panel, tabs=[*shown, *panel.tabs[len(shown) :]])


def _as_many_as_fit(panels: Sequence[Panel], detail: Detail, limit: int) -> str:
    blocks = [(name, part) for panel in panels for name, part in _blocks(panel, detail)]
    kept, left_out, size = [], [], 0
    for name, part in blocks:
        if size + len(part.encode()) <= limit:
            size += len(part.encode())
            kept.append(part)
        else:
            left_out.append(name)
    names = shorten(", ".join(left_out), 300)
    notice = f"Left out here to keep the notebook small: {names}. The profile's .to_html(path) has everything."
    return "".join(kept) + draw(Note(notice, "warning"))


def _blocks(panel: Panel, detail: Detail) -> list[tuple[str, str]]:
    """Return (name, HTML) of a panel, page by page."""
    if isinstance(panel, Tabs):
        shown = panel.tabs[: panel.shown]
        pages = [(tab.name, _page(panel, tab, detail, first=k == 0)) for k, tab in enumerate(shown)]
        others = panel.tabs[len(shown) :]
        return [*pages, ("", _others(panel.label, [tab.name for tab in others]))] if others else pages
    name = getattr(panel, "title", "") or type(panel).__name__.lower()
    return [(name, draw(panel, detail))]


def _others(label: str, names: Sequence[str]) -> str:
    some = shorten(", ".join(names[:6]) + (", ..." if len(names) > 6 else ""), 300)
    by = f", by {label}" if label else ""
    return _note(Note(f"{len(names)} more to choose from in the live notebook{by}: {some}"))


def _frame(title: str, body: str) -> str:
    head = f'<div style="font-size:12px;opacity:.75;margin:0 0 4px">{_text(title)}</div>' if title else ""
    style = "font-family:system-ui,sans-serif;font-size:13px;max-width:1100px"
    return printable(f'<div style="{style}">{head}{body}</div>')


def draw(panel: Panel, detail: Detail = Detail()) -> str:
    """Draw one panel."""
    match panel:
        case Note():
            return _note(panel, detail)
        case KeyFigures():
            return _key_figures(panel.figures)
        case Tabs():
            return "".join(part for _, part in _blocks(panel, detail))
        case Table() if len(panel.frame):
            plain = html_table(panel, detail.rows(panel), detail.text)
            return titled(panel.title, _scripted(plain, embedded_table(panel)) if detail.scripted else plain)
        case Timeline() if detail.scripted:
            data = embedded_timeline(panel.source, _TIMELINE_BYTES)
            return titled(panel.title, _scripted(_image(drawn(panel)), data))
        case Table():
            return titled(panel.title, _note(Note("No rows.", "empty")))
        case _:
            picture = drawn(panel, detail.points)
            shown = _image(picture) + legend(panel) if picture else _note(Note("Nothing to draw.", "empty"))
            return titled(panel.title, shown)


def _scripted(plain: str, data: str) -> str:
    """Put what a script draws from behind what it takes the place of."""
    return f'<div class="tfp-plain">{plain}</div>{data}'


def drawn(panel: Split | Bars | Pie | Diagram | StackedBars | Lines | Timeline, most: int = MAX_BARS) -> str:
    """Return the SVG of a chart, or nothing when it has no data."""
    match panel:
        case Timeline():
            return svg_lines.timeline(panel)
        case Split():
            return svg_bars.split(panel) if any(part.value > 0 for part in panel.parts) else ""
        case Bars():
            return svg_bars.bars(panel) if panel.parts else ""
        case Pie():
            return svg_pie.pie(panel) if any(part.value > 0 for part in panel.parts) else ""
        case Diagram():
            return svg_diagram.diagram(panel) if panel.nodes else ""
        case StackedBars():
            return svg_bars.stacked_bars(panel, most) if len(panel.x) and panel.series else ""
        case Lines():
            return svg_lines.lines(panel, most) if len(panel.x) and panel.series else ""


def legend(panel: Panel) -> str:
    """Name the parts of a bar as text below it, which stays readable where the picture gets small."""
    if not isinstance(panel, Split):
        return ""
    parts = [part for part in panel.parts if part.value > 0]
    whole = sum(part.value for part in parts)
    box = "display:inline-block;width:10px;height:10px;margin-right:5px;background-color:"
    entries = (
        f'<span style="display:inline-block;margin:0 18px 2px 0"><span style="{box}{part.color}"></span>'
        f"{_text(part.label)} {amount(part.value, panel.unit)} ({percent(100 * part.value / whole)})</span>"
        for part in parts
    )
    return f'<div style="font-size:12px;margin-top:6px">{"".join(entries)}</div>'


def titled(title: str, body: str) -> str:
    """Put a heading over a panel."""
    head = f'<div style="font-weight:600;margin:10px 0 6px">{_text(title)}</div>' if title else ""
    return f'{head}<div style="margin:0 0 14px">{body}</div>' if body else head


def _note(note: Note, detail: Detail = Detail()) -> str:
    """Draw the text; what stands between backticks is code."""
    style, mark = _NOTE_STYLES[note.kind]
    text = escape(shorten(note.text, _MAX_NOTE)).replace("\n", "<br>")
    lines = _CODE.sub(r'<code style="font-size:.93em">\1</code>', text)
    links = "".join(_link(link, detail) for link in note.links)
    return f'<div style="{style};overflow-wrap:anywhere">{mark}{lines}{links}</div>'


def _link(link: Link, detail: Detail) -> str:
    if detail.links == "none":
        return ""
    if detail.links == "anchors":
        return f' <a href="#{anchor(link.page)}">{_text(link.text)}</a>'
    shown = {"page": link.page, "op": link.op, "range": link.time_range and "{},{}".format(*link.time_range)}
    data = "".join(f' data-tfp-{key}="{escape(value)}"' for key, value in shown.items() if value)
    style = "border:0;background:none;padding:0 4px;font:inherit;color:#0072B2;cursor:pointer;text-decoration:underline"
    return f' <button type="button" class="tfp-link" style="{style}"{data}>{_text(link.text)}</button>'


def anchor(page: str) -> str:
    """Return the id of a page's section in a document."""
    return "page-" + re.sub(r"\W+", "-", page.lower())


def _key_figures(figures: Sequence[Figure]) -> str:
    boxes = "".join(_figure(figure) for figure in figures)
    return f'<div style="margin:6px 0 10px">{boxes}</div>'


def _figure(figure: Figure) -> str:
    meaning = f' title="{escape(figure.meaning)}"' if figure.meaning else ""
    return (
        f'<div style="display:inline-block;vertical-align:top;margin:0 28px 8px 0"{meaning}>'
        f'<div style="font-size:12px;opacity:.75">{_text(figure.label)}</div>'
        f'<div style="font-size:17px;font-weight:600">{_text(figure.value)}</div></div>'
    )


def _page(tabs: Tabs, tab: Tab, detail: Detail, first: bool) -> str:
    body = "".join(draw(panel, detail) for panel in tab.open())
    if tabs.kind != "tabs" and first:
        return f'<div style="margin:6px 0"><b>{_text(tabs.label)}: {_text(tab.name)}</b></div>{body}'
    if not detail.folded and tabs.kind == "tabs":
        head = f'<h2 style="font-size:17px;margin:28px 0 8px">{_text(tab.name)}</h2>'
        return f'<section id="{anchor(tab.name)}">{head}{body}</section>'
    return (
        f'<details{" open" if first else ""} style="margin:6px 0"><summary style="font-weight:600;cursor:pointer">'
        f"{_text(tab.name)}</summary>{body}</details>"
    )


def _image(svg: str) -> str:
    spoken = svg.split('aria-label="', 1)[1].split('"', 1)[0]
    return f'<img src="{data_uri(svg)}" alt="{spoken}" style="width:100%;max-width:760px;height:auto">'


def _text(text: str) -> str:
    return escape(shorten(text, _MAX_NOTE))
