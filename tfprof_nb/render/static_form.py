"""The static form of a view: panels as HTML of a limited size, for the output of a notebook cell."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from markupsafe import Markup

from tfprof_nb._units import shorten
from tfprof_nb.render.html import Detail, blocks_of, draw
from tfprof_nb.render.markup import element, join, limited, printable_markup
from tfprof_nb.render.panels import Note, Panel, Tabs

# An output may have 64 KB; 1 KB is left for the element around it, with the id and the rule.
STATIC_BYTES = 63 * 1024
# From fine to coarse.
_DETAILS = (
    Detail(),
    Detail(points=130),
    Detail(max_rows=8, text=60, points=130),
    Detail(max_rows=3, text=40, points=100),
)


def static_view(title: str, panels: Sequence[Panel], limit: int = STATIC_BYTES) -> Markup:
    """Draw panels in at most ``limit`` bytes, for the output of a notebook cell.

    Charts get coarser first, then tables shorter, then panels are left out from the end, each with a notice.
    """
    panels = opened(panels)
    for detail in _DETAILS:
        blocks = [block for panel in panels for block in blocks_of(panel, detail)]
        html = _frame(title, join(part for _, part in blocks))
        if len(html.encode()) <= limit:
            return html
    blocks = [block for panel in _unwrapped(panels) for block in blocks_of(panel, _DETAILS[-1])]
    return _frame(title, _as_many_as_fit(blocks, limit - 1000))


def _unwrapped(panels: Iterable[Panel]) -> Iterator[Panel]:
    """Yield the panels of a chooser's only open page in its place, and pages one by one: each can be left out."""
    for panel in panels:
        if isinstance(panel, Tabs) and len(panel.tabs[: panel.shown]) == 1:
            yield from _unwrapped(panel.tabs[0].open())
            yield replace(panel, tabs=panel.tabs[1:], shown=0)
        elif isinstance(panel, Tabs):
            yield replace(panel, tabs=[replace(tab, group="") for tab in panel.tabs])
        else:
            yield panel


def opened(panels: Sequence[Panel]) -> list[Panel]:
    """Compute the panels of every page, so that drawing them again does not."""
    return [_opened_tabs(panel) if isinstance(panel, Tabs) else panel for panel in panels]


def first_pages(panels: Sequence[Panel]) -> list[Panel]:
    """Return the panels with only the first page of each chooser."""
    return [replace(panel, tabs=panel.tabs[:1]) if isinstance(panel, Tabs) else panel for panel in panels]


def _opened_tabs(panel: Tabs) -> Tabs:
    shown = [replace(tab, panels=opened(tab.open()).copy) for tab in panel.tabs[: panel.shown]]
    return replace(panel, tabs=[*shown, *panel.tabs[len(shown) :]])


def _as_many_as_fit(blocks: Sequence[tuple[str, Markup]], limit: int) -> Markup:
    """Join the blocks, names and HTML, that fit into ``limit`` bytes, and name the others."""
    kept, left_out, size = [], [], 0
    for name, part in blocks:
        if size + len(part.encode()) <= limit:
            size += len(part.encode())
            kept.append(part)
        else:
            left_out.append(name)
    names = shorten(", ".join(left_out), 300)
    notice = f"Left out here to keep the notebook small: {names}. The profile's .to_html(path) has everything."
    return join([*kept, draw(Note(notice, "warning"))])


def _frame(title: str, body: Markup) -> Markup:
    head = element("div", limited(title), style="font-size:12px;opacity:.75;margin:0 0 4px") if title else ""
    style = "font-family:system-ui,sans-serif;font-size:13px;max-width:1100px"
    # Names and code can have dollar signs, which JupyterLab would typeset as formulas.
    return printable_markup(element("div", head, body, class_="mathjax_ignore tex2jax_ignore", style=style))
