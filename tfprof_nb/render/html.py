"""Panels as HTML without script: styles are inline, charts are pictures.

In: panels. Out: HTML that JupyterLab, GitHub, nbviewer and nbconvert show alike. That of a report also holds what its
script needs to make it as lively as the widgets.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Literal

import numpy as np
from markupsafe import Markup

from tfprof_nb._units import count, shorten
from tfprof_nb.render import answer
from tfprof_nb.render.chain import chain, is_chain
from tfprof_nb.render.embedded import embedded_chart, embedded_flame, embedded_table, embedded_timeline
from tfprof_nb.render.markup import Attribute, base64_of, element, join, limited, tag, with_code
from tfprof_nb.render.panels import (
    Bars,
    Beside,
    Change,
    Chart,
    Composition,
    Figure,
    Flame,
    Headline,
    HeatMap,
    KeyFigures,
    Lines,
    Link,
    Network,
    Note,
    Offer,
    Panel,
    Split,
    StackedBars,
    Tab,
    Table,
    Tabs,
    Timeline,
)
from tfprof_nb.render.svg import bars as svg_bars
from tfprof_nb.render.svg import flame as svg_flame
from tfprof_nb.render.svg import heat_map as svg_heat_map
from tfprof_nb.render.svg import lines as svg_lines
from tfprof_nb.render.svg import network as svg_network
from tfprof_nb.render.svg.picture import data_uri
from tfprof_nb.render.table.html import html_table
from tfprof_nb.render.theme import BLUE, ORANGE
from tfprof_nb.render.thinning import MAX_BARS

_OWN_STYLE = re.compile(r'<svg[^>]* style="([^"]*)"')
_TIMELINE_BYTES, _CHOSEN_TIMELINE_BYTES = 1_000_000, 100_000
# Of pages behind the first of a menu or slider in a report, those of more characters together are left out.
_MAX_CHARACTERS, _MAX_PAGES = 2_000_000, 200
_NOTE_STYLES = {
    "answer": ("font-size:20px;line-height:1.3;font-weight:600;margin:2px 0 6px", ""),
    "advice": ("font-size:14px;line-height:1.45;margin:0 0 8px", "→ "),
    "info": ("font-size:12px;line-height:1.45;opacity:.8;margin:0 0 8px", ""),
    "warning": (
        f"font-size:13px;line-height:1.45;margin:0 0 8px;padding:4px 10px;border-left:3px solid {ORANGE}",
        "⚠ ",
    ),
    "empty": ("font-size:13px;line-height:1.45;margin:0 0 8px;padding:10px;border:1px dashed #888", ""),
}


@dataclass(frozen=True)
class Detail:
    """How much to show.

    Attributes
    ----------
    min_rows, max_rows
        Limits to the number of rows that a table asks for.
    text
        The most characters in a table cell.
    points
        The most bars or points in a chart.
    links
        How links to pages are drawn: as anchors within a report, as buttons where a script listens to them.
    scripted
        Whether to embed the data from which a report's script draws interactive tables, timelines and menus.
    prefix
        What the ids of pages begin with, so that the same page of another host has another id.
    timeline_bytes
        The most that a timeline's embedded data may take.
    """

    min_rows: int = 0
    max_rows: int = 1_000_000
    text: int = 80
    points: int = MAX_BARS
    links: Literal["none", "anchors", "buttons"] = "none"
    scripted: bool = False
    prefix: str = "page"
    timeline_bytes: int = _TIMELINE_BYTES

    def rows(self, panel: Table) -> int:
        """Return how many rows of a table to show."""
        return min(max(panel.rows, self.min_rows), self.max_rows)


_CODE_STYLE = (
    "margin:4px 0 0;padding:6px 10px;border-left:3px solid #888;background:rgba(128,128,128,.12);font-size:12px;"
    "line-height:1.4;white-space:pre-wrap;font-family:ui-monospace,Menlo,Consolas,monospace"
)
_ENLARGE = f"{answer.BUTTON};font-weight:400;white-space:nowrap"
_HEADING = "font-size:15px;font-weight:600;margin:14px 0 6px"
_NOTHING = Note("Nothing to draw.", "empty")
_BUTTON = (
    "border:0;background:none;padding:0 4px;font:inherit;font-size:min(1em,14px);font-weight:400;"
    f"color:{BLUE};cursor:pointer"
)
# A name that leads to a page looks like other names.
_PLAIN_BUTTON = "border:0;background:none;padding:0;font:inherit;color:inherit;text-align:left;cursor:pointer"


def draw(panel: Panel, detail: Detail = Detail()) -> Markup:
    """Draw one panel."""
    match panel:
        case Note():
            return _note(panel, detail)
        case Headline():
            return answer.headline(panel)
        case Change():
            live = detail.links == "buttons"
            card = answer.change(panel, [_link(link, detail) for link in panel.links], live=live)
            return card + _note(panel.offer.note, detail) if panel.offer and not live else card
        case Composition():
            return answer.composition(panel, partial(_linked, detail=detail), links=detail.links != "none")
        case Offer():
            return _note(panel.note, detail)
        case Split() if any(part.value > 0 for part in panel.parts):
            return titled(panel.title, answer.split(panel))
        case Split():
            return titled(panel.title, _note(_NOTHING))
        case KeyFigures():
            return _key_figures(panel.figures)
        case Beside():
            return join(draw(part, detail) for part in panel.panels)
        case Tabs():
            return join(part for _, part in blocks_of(panel, detail))
        case Table() if len(panel.frame):
            plain = html_table(panel, detail.rows(panel), detail.text)
            return titled(panel.title, _scripted(plain, embedded_table(panel)) if detail.scripted else plain)
        case Flame() if detail.scripted and len(panel.frame):
            return titled(panel.title, _scripted(_image(chart_svg(panel)), embedded_flame(panel)))
        case Timeline() if detail.scripted:
            data = embedded_timeline(panel.source, detail.timeline_bytes)
            return titled(panel.title, _scripted(_image(chart_svg(panel)), data))
        case Network() if panel.boxes:
            return network(panel, _image(chart_svg(panel)))
        case Table():
            return titled(panel.title, _note(Note("No rows.", "empty")))
        case _:
            picture = chart_svg(panel, detail.points)
            if not picture:
                return titled(panel.title, _note(_NOTHING))
            below = Markup()
            if detail.scripted and isinstance(panel, (Bars, Lines, StackedBars)):
                below = embedded_chart(panel)
            about = panel.about if isinstance(panel, StackedBars) else ""
            return titled(panel.title, _image(picture) + below, about)


def blocks_of(panel: Panel, detail: Detail) -> list[tuple[str, Markup]]:
    """Return name and HTML of each page of a panel, or of the panel itself."""
    if isinstance(panel, Tabs) and detail.scripted:
        return [(panel.label, _choice(panel, detail))]
    if isinstance(panel, Tabs):
        shown = panel.tabs[: panel.shown]
        groups = [(name, list(tabs)) for name, tabs in groupby(shown, key=lambda tab: tab.group or tab.name)]
        pages = [(name, _group(panel, name, tabs, detail, first=k == 0)) for k, (name, tabs) in enumerate(groups)]
        others = panel.tabs[len(shown) :]
        rest = [("", _others(panel.label, [tab.name for tab in others]))] if others else []
        return [*pages, *rest]
    name = getattr(panel, "title", "") or type(panel).__name__.lower()
    return [(name, draw(panel, detail))]


def _choice(tabs: Tabs, detail: Detail) -> Markup:
    """Draw pages, folded, of which a report's script shows the chosen one; without it tabs are open, others unfold."""
    in_tabs = tabs.kind == "tabs" and tabs.shown is None
    pages = [_section(tab, detail) for tab in tabs.tabs] if in_tabs else _as_many_as_fit(tabs, detail)
    names = [tab.name for tab in tabs.tabs]
    groups = [tab.group or tab.name for tab in tabs.tabs] if in_tabs else []
    shown = [shorten(name, 200) for name in names[: len(pages)]]
    data = {"names": shown, "groups": groups, "kind": tabs.kind, "label": tabs.label}
    folded = [
        _folded(name, page, open=in_tabs or k == 0) for k, (name, page) in enumerate(zip(shown, pages, strict=True))
    ]
    left_out = [_others(tabs.label, names[len(pages) :])] if len(pages) < len(names) else []
    packed = base64_of(json.dumps(data).encode())
    script = element("script", packed, type="application/json", class_="tfp-choice-data")
    return element("div", script, *folded, *left_out, class_="tfp-choice")


def _as_many_as_fit(tabs: Tabs, detail: Detail) -> list[Markup]:
    pages, characters = [], 0
    for k, tab in enumerate(tabs.tabs[:_MAX_PAGES]):
        page = _chosen(tab, k, detail)
        characters += len(page) if k else 0
        if characters > _MAX_CHARACTERS:
            break
        pages.append(page)
    return pages


def _folded(name: str, page: Markup, *, open: bool) -> Markup:  # noqa: A002 - as in HTML
    summary = element("summary", name, style="font-weight:600;cursor:pointer")
    return element("details", summary, page, open=open or None, style="margin:6px 0")


def _section(tab: Tab, detail: Detail) -> Markup:
    """Draw a page of a report, which links lead to."""
    return element("section", *(draw(panel, detail) for panel in tab.open()), id=_anchor(tab.name, detail))


def _chosen(tab: Tab, number: int, detail: Detail) -> Markup:
    """Draw a page of a menu; those behind the first have ids of their own, and coarser timelines."""
    if number:
        size = min(detail.timeline_bytes, _CHOSEN_TIMELINE_BYTES)
        detail = replace(detail, prefix=f"{detail.prefix}-{number}", timeline_bytes=size)
    return join(draw(panel, detail) for panel in tab.open())


def _others(label: str, names: Sequence[str]) -> Markup:
    some = shorten(", ".join(names[:6]) + (", ..." if len(names) > 6 else ""), 300)
    by = f", by {label}" if label else ""
    return _note(Note(f"{count(len(names))} more to choose from in the live notebook{by}: {some}"))


def _scripted(plain: Markup, data: Markup) -> Markup:
    """Put a script's data behind the plain form that the script replaces."""
    return element("div", plain, class_="tfp-plain") + data


def chart_svg(panel: Chart, points: int = MAX_BARS) -> Markup:
    """Return the SVG of a chart; nothing if it has no data."""
    match panel:
        case Timeline():
            return svg_lines.timeline(panel)
        case Bars():
            return svg_bars.bars(panel) if panel.parts else Markup()
        case Network():
            return svg_network.network(panel) if panel.boxes else Markup()
        case Flame():
            return svg_flame.flame(panel) if len(panel.frame) else Markup()
        case HeatMap():
            return svg_heat_map.heat_map(panel) if np.isfinite(panel.values).any() else Markup()
        case StackedBars():
            return svg_bars.stacked_bars(panel, points) if len(panel.x) and panel.series else Markup()
        case Lines():
            return svg_lines.lines(panel, points) if len(panel.x) and panel.series else Markup()


def network(panel: Network, picture: Markup, *, enlarged: bool = False) -> Markup:
    """Draw boxes that feed one another: a chain as lines, others as the picture, which scrolls in a narrow place.

    Shrunk to that place, its text could not be read. With ``enlarged``, a button that a script listens to fills the
    screen with it.
    """
    body = chain(panel) if is_chain(panel) else element("div", picture, style="overflow-x:auto")
    button = element(
        "button", "Fill the screen", type="button", class_="tfp-enlarge", style=_ENLARGE, title="Escape: back"
    )
    return element("div", titled(panel.title, body, action=button if enlarged else ""), class_="tfp-network")


def titled(title: str, body: Markup, about: str = "", action: str = "") -> Markup:
    """Put a heading over a panel; ``about`` stands quietly beside it, a button at the other end of the line."""
    more = element("span", limited(about), style="font-weight:400;opacity:.7;font-size:12px") if about else ""
    line = "display:flex;justify-content:space-between;align-items:baseline;" if action else ""
    words = element("span", limited(title)) if action else limited(title)
    style = f"{line}font-weight:600;margin:10px 0 6px"
    head = element("div", words, " ", more, action, style=style) if title else Markup()
    return head + element("div", body, style="margin:0 0 14px") if body else head


def _note(note: Note, detail: Detail = Detail()) -> Markup:
    """Draw the text; what is between backticks is code."""
    style, mark = _NOTE_STYLES[note.kind]
    links = [_link(link, detail) for link in note.links]
    code = element("pre", limited(note.code), style=_CODE_STYLE) if note.code else ""
    return element("div", mark, *with_code(limited(note.text)), *links, code, style=f"{style};overflow-wrap:anywhere")


def _link(link: Link, detail: Detail) -> Markup:
    text = limited(link.text)
    if detail.links == "none":
        return Markup()
    time_range = link.time_range and "{},{}".format(*link.time_range)
    data = {"data_tfp_page": link.page, "data_tfp_op": link.op or None, "data_tfp_range": time_range}
    if detail.links == "anchors":
        return join([" ", element("a", text, href=f"#{_anchor(link.page, detail)}", class_="tfp-link", **data)])
    return join([" ", element("button", text, type="button", class_="tfp-link", style=_BUTTON, **data)])


def _linked(name: Markup, page: str, detail: Detail) -> Markup:
    """Let a name lead to a page, if there is one and links work."""
    if not page or detail.links == "none":
        return name
    opens: dict[str, Attribute] = {"class_": "tfp-name", "data_tfp_page": page, "title": f"Open {page}"}
    if detail.links == "anchors":
        return element("a", name, href=f"#{_anchor(page, detail)}", **opens)
    return element("button", name, type="button", style=_PLAIN_BUTTON, **opens)


def _anchor(page: str, detail: Detail) -> str:
    """Return the id of a page's section in a document."""
    return f"{detail.prefix}-" + re.sub(r"\W+", "-", page.lower())


def _key_figures(figures: Sequence[Figure]) -> Markup:
    grid = "display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:10px;margin:10px 0 14px"
    return element("div", *map(_figure, figures), style=grid)


def _figure(figure: Figure) -> Markup:
    value = element("div", limited(figure.value), style="font-size:16px;font-weight:650")
    label = element("div", limited(figure.label), style="font-size:12px;line-height:1.35;opacity:.72")
    box = "border-left:2px solid rgba(128,128,128,.3);padding-left:9px"
    return element("div", value, label, style=box, title=figure.meaning or None)


def _group(tabs: Tabs, name: str, pages: Sequence[Tab], detail: Detail, first: bool) -> Markup:
    """Draw the pages of one tab, folded; several have headings."""
    bodies = [join(draw(panel, detail) for panel in tab.open()) for tab in pages]
    if tabs.kind != "tabs" and first:
        return element("div", element("b", f"{limited(tabs.label)}: {limited(name)}"), style="margin:6px 0") + bodies[0]
    heads = [element("div", limited(tab.name), style=_HEADING) for tab in pages] if len(pages) > 1 else [Markup()]
    return _folded(limited(name), join(head + part for head, part in zip(heads, bodies, strict=True)), open=first)


def _image(svg: Markup) -> Markup:
    label = svg.split('aria-label="', 1)[1].split('"', 1)[0]
    own = _OWN_STYLE.match(svg)
    return tag(
        "img", src=data_uri(svg), alt=label, style=f"width:100%;{own[1] if own else 'max-width:1160px'};height:auto"
    )
