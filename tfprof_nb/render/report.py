"""A report as one HTML file that needs no other files."""

from collections.abc import Sequence

from markupsafe import Markup

from tfprof_nb.render.bundle import report_viewers
from tfprof_nb.render.html import Detail, draw
from tfprof_nb.render.markup import element, join, printable_markup, tag
from tfprof_nb.render.panels import Panel

_STYLE = Markup("""
:root { color-scheme: light dark; --tfp-page: #fff; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 1100px; padding: 24px;
       background: var(--tfp-page); color: #1a1a1a; }
h1 { font-size: 15px; font-weight: 600; margin: 0 0 14px; }
th, td { padding: 4px 8px; border-bottom: 1px solid rgba(128, 128, 128, .25); vertical-align: top; }
td[align] { white-space: nowrap; font-variant-numeric: tabular-nums; }
code { font-size: 11px; white-space: pre-wrap; }
a { color: #0067a5; text-decoration: none; }
a:hover, .tfp-row:hover a { text-decoration: underline; }
.tfp-link + .tfp-link { margin-left: 10px; }
tbody tr:hover { background: rgba(128, 128, 128, .12); }
@media (prefers-color-scheme: dark) { :root { --tfp-page: #161616; } body { color: #e8e8e8; } a { color: #66b8ee; }
  .tfp-gain { color: #6fd39a !important; } }
""")


_FRAME = "tfp-report"  # as js/src/report knows it: there a frame becomes as high as its page
_DETAIL = Detail(min_rows=200, text=300, links="anchors", scripted=True)


def html_report(title: str, panels: Sequence[Panel]) -> Markup:
    """Return a self-contained HTML document for light and dark themes.

    Its script draws interactive tables and timelines; without the script, their first rows and pictures are shown.

    Examples
    --------
    >>> from tfprof_nb.render.panels import Note
    >>> html_report("baseline", [Note("71% of each step waits for data.", "answer")]).startswith("<!doctype html>")
    True
    """
    head = element(
        "head",
        tag("meta", charset="utf-8"),
        element("title", title),
        tag("meta", name="viewport", content="width=device-width,initial-scale=1"),
        element("style", _STYLE),
    )
    shown = [element("h1", title), *(draw(panel, _DETAIL) for panel in panels)]
    # The script keeps its control characters.
    body = element("body", printable_markup(join(shown)), report_viewers())
    return join([Markup("<!doctype html>"), element("html", printable_markup(head), body, lang="en"), "\n"])


def framed_report(title: str, panels: Sequence[Panel]) -> Markup:
    """Return a report in a frame, for front ends that show HTML but not Jupyter's widgets, such as marimo."""
    page = str(html_report(title, panels))  # an attribute's value: no longer markup
    look = "width:100%;height:560px;border:0;color-scheme:normal"
    return element("iframe", srcdoc=page, title=title, name=_FRAME, style=look)
