"""A line and small bars that stand for a view until there is one: HTML without script, cheap to draw again."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from tfprof_nb.render import theme
from tfprof_nb.render.markup import element

_HEIGHT_PX = 40
_CUT = 2.5  # times the typical bar: higher bars are cut, so that they don't flatten the others


def live_html(line: str, bars: Sequence[tuple[float, float]], typical: float) -> Markup:
    """Draw a line of text above bars.

    Parameters
    ----------
    line
        The text; it ends with what the coloured parts of the bars are, if there are any.
    bars
        The height of each bar, and of its coloured part.
    typical
        The height of most bars.
    """
    highest = min(max((height for height, _ in bars), default=0.0), _CUT * typical)
    drawn = [_bar(height, colored, highest) for height, colored in bars] if highest else []
    key = element("span", " ■", style=f"color:{theme.VERMILLION}") if any(part for _, part in bars) else ""
    style = f"display:flex;align-items:flex-end;gap:1px;height:{_HEIGHT_PX}px;margin-top:4px;max-width:720px"
    chart = element("div", *drawn, style=style)
    return element(
        "div", element("div", line, key), chart, class_="tfp-live", style="font:13px system-ui,sans-serif;padding:4px 0"
    )


def _bar(height: float, colored: float, highest: float) -> Markup:
    shown = min(height, highest)
    share = 100 * min(colored / height, 1) if height else 0
    fill = f"linear-gradient(to top,{theme.VERMILLION} {share:.0f}%,{theme.GREY} {share:.0f}%)"
    top = "border-top:3px dotted;" if height > highest else ""
    size = f"flex:1 1 2px;max-width:10px;height:{100 * shown / highest:.0f}%"
    return element("div", style=f"{size};box-sizing:border-box;{top}background:{fill}")
