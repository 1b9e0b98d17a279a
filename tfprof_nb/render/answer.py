"""The answer as HTML: the headline, a change as a card with its diff, and what wholes are made of.

Translucent colours serve light and dark themes alike. Styles are inline, since JupyterLab drops others.
"""

from collections.abc import Callable, Sequence

from markupsafe import Markup

from tfprof_nb._units import cell, percent, shorten
from tfprof_nb.render.diff import DiffLine, diff
from tfprof_nb.render.markup import element, join, limited, with_code
from tfprof_nb.render.panels import Bar, Change, Composition, Headline, Part, Split
from tfprof_nb.render.svg.bars import readable_on

_LINE = "1px solid rgba(128,128,128,.3)"
_CODE_FONT = "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:12.5px"
_GAIN = "color:#1a8a53"  # legible on white and on black
_SIGNS = {"-": "background:rgba(229,83,75,.16)", "+": "background:rgba(46,160,97,.18)", " ": ""}
_HATCHED = (
    "background-image:repeating-linear-gradient(45deg,rgba(255,255,255,.55) 0px,rgba(255,255,255,.55) 3px,"
    "rgba(255,255,255,0) 3px,rgba(255,255,255,0) 7px)"
)
BUTTON = (
    "font:inherit;font-size:12px;padding:2px 10px;border:1px solid rgba(128,128,128,.5);border-radius:6px;"
    "background:none;color:inherit;cursor:pointer"
)
_SCALE = 100.0
_MAX_HEADLINE = 400
_NAMED = 0.1  # of a bar, for a name in it
_QUIET = "opacity:.62;font-size:12px;white-space:nowrap"
# Its names make the page no wider.
_STRIP = (
    "width:0;min-width:100%;display:flex;gap:1px;height:26px;border-radius:4px;overflow:hidden;white-space:nowrap;"
    "line-height:18px"
)
_SWATCH = "display:inline-block;width:10px;height:10px;margin-right:5px;background-color:"


def headline(panel: Headline) -> Markup:
    """Draw the sentence, large, with the gain at its right; below it where the page is narrow."""
    text = element(
        "div",
        *with_code(shorten(panel.text, _MAX_HEADLINE)),
        class_="tfp-headline",
        style="flex:1 1 420px;font-size:21px;line-height:1.28;font-weight:650;overflow-wrap:anywhere",
    )
    if not panel.gain and not panel.ground:
        return element("div", text, style="margin:2px 0 10px")
    look = f"font-size:27px;line-height:1.05;font-weight:700;{_GAIN}"
    number = element("div", panel.gain, class_="tfp-gain", style=look)
    ground = element("div", *with_code(panel.ground), style="font-size:12px;opacity:.72")
    beside = element("div", number if panel.gain else "", ground, style="flex:0 1 auto;max-width:340px")
    style = "display:flex;flex-wrap:wrap;gap:4px 24px;justify-content:space-between;margin:2px 0 10px"
    return element("div", text, beside, style=style)


def change(panel: Change, links: Sequence[Markup], *, live: bool) -> Markup:
    """Draw a card: place and action, the diff, now and then, and why; with buttons if it is ``live``."""
    head = _card_head(panel, live=live)
    body = join([_diff(panel), _bars(panel.bars), _why(panel, links)])
    box = f"border:{_LINE};border-radius:8px;overflow:hidden;margin:0 0 10px"
    if not panel.folded:
        return element("div", head, body, style=box, class_="tfp-change")
    gain = element("span", panel.gain, class_="tfp-gain", style=f"font-weight:600;{_GAIN};white-space:nowrap")
    title = element("span", *with_code(panel.action), style="flex:1 1 auto")
    row = element("div", title, gain, style="display:inline-flex;gap:12px;width:calc(100% - 20px)")
    summary = element("summary", row, style="padding:7px 12px;cursor:pointer;font-size:13px")
    inner = element("div", _buttons(panel) if live and panel.new else "", body)
    return element("details", summary, inner, style=box, class_="tfp-change")


def composition(panel: Composition, linked: Callable[[Markup, str], Markup], *, links: bool) -> Markup:
    """Draw one row per part: its name, its bar, its size and its share; ``linked`` leads from a name to a page.

    With ``links``, all of the row does.
    """
    longest = max((part.value for part in panel.parts), default=0.0) or 1.0
    rows = [join(_part(part, longest, panel, linked)) for part in panel.parts]
    about = panel.about
    if links and any(part.page for part in panel.parts):
        about += "; click one for more"
        rows = [
            element("div", row, class_="tfp-row", data_tfp_page=part.page, style="display:contents;cursor:pointer")
            if part.page
            else row
            for part, row in zip(panel.parts, rows, strict=True)
        ]
    grid = (
        "display:grid;grid-template-columns:fit-content(42%) minmax(60px,1fr) auto auto;gap:4px 12px;"
        "align-items:center;font-size:13px;margin:6px 0 14px"
    )
    return _title(panel.title, about) + element("div", *rows, style=grid)


def _title(title: str, about: str = "") -> Markup:
    name = element("span", title, style="font-weight:600;font-size:13.5px")
    quiet = element("span", f" {about}", style="opacity:.7;font-size:12px") if about else ""
    return element("div", name, quiet, style="margin:10px 0 0")


def _part(part: Part, longest: float, panel: Composition, linked: Callable[[Markup, str], Markup]) -> list[Markup]:
    width = max(_SCALE * part.value / longest, 0.4)
    bar = element("div", style=f"height:13px;border-radius:2px;width:{width:.2f}%;background-color:{part.color}")
    share = percent(_SCALE * part.value / panel.whole) if panel.whole > 0 else ""
    number = "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap"
    place = element("span", f" {part.place}", style=_QUIET) if part.place else ""
    name = "overflow-wrap:anywhere;min-width:0"
    return [
        element(
            "div", linked(join([*with_code(limited(part.label)), place]), part.page), style=name, title=_named(part)
        ),
        element("div", bar),
        element("div", cell(part.value, panel.unit), style=number),
        element("div", share, style=f"{number};opacity:.7"),
    ]


def _named(part: Part) -> str:
    return f"{part.label.replace('`', '')} {part.place}".rstrip()


def split(panel: Split) -> Markup:
    """Draw one bar as wide as the page, divided into parts, with the names that fit; all names stand below it."""
    parts = [part for part in panel.parts if part.value > 0]
    whole = sum(part.value for part in parts)
    strip = element("div", *(_piece(part, whole, panel) for part in parts), style=_STRIP)
    entries = [
        element(
            "span",
            element("span", style=f"{_SWATCH}{part.color}"),
            *with_code(limited(part.label)),
            f" {cell(part.value, panel.unit)} ({percent(_SCALE * part.value / whole)})",
            style="display:inline-block;margin:0 18px 2px 0",
        )
        for part in parts
    ]
    return strip + element("div", *entries, style="font-size:12px;margin-top:6px")


def _piece(part: Part, whole: float, panel: Split) -> Markup:
    share, text = part.value / whole, f"{part.label.replace('`', '')} {cell(part.value, panel.unit)}"
    look = f"padding:4px 8px;font-size:12px;font-weight:600;color:{readable_on(part.color)};" if share > _NAMED else ""
    box = "overflow:hidden;text-overflow:ellipsis;box-sizing:border-box"
    style = f"width:{_SCALE * share:.2f}%;background-color:{part.color};{look}{box}"
    return element("div", text if look else "", style=style, title=text)


def _card_head(panel: Change, *, live: bool) -> Markup:
    if panel.folded or not (panel.place or panel.action or (live and panel.new)):
        return Markup()
    place = element("span", limited(panel.place), style="font-weight:600") if panel.place else ""
    action = element("span", *with_code(panel.action), style="flex:1 1 200px")
    style = (
        "display:flex;flex-wrap:wrap;gap:4px 10px;align-items:center;padding:7px 12px;font-size:13px;"
        f"background-color:rgba(128,128,128,.09);border-bottom:{_LINE}"
    )
    return element(
        "div", place, action, _buttons(panel) if live and panel.new else "", class_="tfp-card-head", style=style
    )


def _buttons(panel: Change) -> Markup:
    """Draw the buttons that the card's script listens to."""
    copy = element("button", "Copy", type="button", class_="tfp-copy", style=BUTTON, title="copy the new code")
    name = "Apply in a new cell"
    tip = "put the whole changed cell below this one; nothing runs"
    apply = element("button", name, type="button", class_="tfp-apply", style=BUTTON, title=tip)
    return element("span", copy, " ", apply if panel.apply else "", style="white-space:nowrap")


def _diff(panel: Change) -> Markup:
    if not panel.new:
        return Markup()
    lines = [_diff_line(line) for line in diff(panel.old, panel.new)]
    return element("div", *lines, class_="tfp-diff", style=f"{_CODE_FONT};line-height:1.6")


def _diff_line(line: DiffLine) -> Markup:
    changed = element("b", line.changed, style="text-decoration:underline") if line.changed else ""
    text = [f"{line.sign} ", line.before, changed, line.behind]
    # A long line goes on below its code, not below its sign: what is changed often stands at its end.
    wrapped = "padding:0 12px 0 calc(12px + 2ch);text-indent:-2ch;white-space:pre-wrap;overflow-wrap:anywhere"
    return element("div", *text, style=f"{wrapped};{_SIGNS[line.sign]}")


def _bars(bars: Sequence[Bar]) -> Markup:
    """Draw bars of one scale, one below the other."""
    longest = max((sum(part.value for part in bar.parts) for bar in bars), default=0.0)
    if not longest > 0:
        return Markup()
    rows = [piece for bar in bars for piece in _bar(bar, longest)]
    grid = (
        "display:grid;grid-template-columns:auto minmax(60px,1fr) auto;gap:4px 12px;align-items:center;"
        f"padding:9px 12px;font-size:12.5px;border-top:{_LINE}"
    )
    return element("div", *rows, style=grid)


def _bar(bar: Bar, longest: float) -> list[Markup]:
    hatched = f";{_HATCHED}" if bar.estimated else ""
    parts = [
        element(
            "div",
            style=f"height:13px;width:{_SCALE * part.value / longest:.2f}%;background-color:{part.color}{hatched}",
            title=part.label or None,
        )
        for part in bar.parts
    ]
    strip = element("div", *parts, style="display:flex;border-radius:3px;overflow:hidden")
    number = element("div", bar.text, style="white-space:nowrap;font-variant-numeric:tabular-nums")
    return [element("div", bar.label, style="opacity:.72"), strip, number]


def _why(panel: Change, links: Sequence[Markup]) -> Markup:
    if not panel.text and not links:
        return Markup()
    style = f"padding:8px 12px;font-size:13px;line-height:1.45;overflow-wrap:anywhere;border-top:{_LINE}"
    why = element("b", "Why ") if panel.new and not panel.folded else ""
    return element("div", why, *with_code(limited(panel.text)), *links, style=style)
