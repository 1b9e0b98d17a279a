"""A menu, a slider or tabs in a report: every page is there, folded, and the report's script shows the chosen one."""

import json
from collections.abc import Callable, Sequence

from markupsafe import Markup

from tfprof_nb._units import shorten
from tfprof_nb.render.markup import base64_of, element
from tfprof_nb.render.panels import Tab, Tabs

# Of pages behind the first, those of more characters together are left out.
_MAX_CHARACTERS = 2_000_000
_MAX_PAGES = 200


def choice(tabs: Tabs, draw: Callable[[Tab, int], Markup], others: Callable[[str, Sequence[str]], Markup]) -> Markup:
    """Draw the pages that a reader can choose from; without the script tabs are open, others unfold.

    Parameters
    ----------
    draw
        Draws one page, given its position.
    others
        Draws the notice about pages that are left out, given what is chosen and their names.
    """
    in_tabs = tabs.kind == "tabs" and tabs.shown is None
    pages = [draw(tab, k) for k, tab in enumerate(tabs.tabs)] if in_tabs else _as_many_as_fit(tabs, draw)
    names = [tab.name for tab in tabs.tabs]
    groups = [tab.group or tab.name for tab in tabs.tabs] if in_tabs else []
    shown = [shorten(name, 200) for name in names[: len(pages)]]
    data = {"names": shown, "groups": groups, "kind": tabs.kind, "label": tabs.label}
    folded = [
        _folded(name, page, open=in_tabs or k == 0) for k, (name, page) in enumerate(zip(names, pages, strict=False))
    ]
    left_out = [others(tabs.label, names[len(pages) :])] if len(pages) < len(names) else []
    packed = base64_of(json.dumps(data).encode())
    script = element("script", packed, type="application/json", class_="tfp-choice-data")
    return element("div", script, *folded, *left_out, class_="tfp-choice")


def _as_many_as_fit(tabs: Tabs, draw: Callable[[Tab, int], Markup]) -> list[Markup]:
    pages, characters = [], 0
    for k, tab in enumerate(tabs.tabs[:_MAX_PAGES]):
        page = draw(tab, k)
        characters += len(page) if k else 0
        if characters > _MAX_CHARACTERS:
            break
        pages.append(page)
    return pages


def _folded(name: str, page: Markup, *, open: bool) -> Markup:  # noqa: A002 - as in HTML
    summary = element("summary", shorten(name, 200), style="font-weight:600;cursor:pointer")
    return element("details", summary, page, open=open or None, style="margin:6px 0")
