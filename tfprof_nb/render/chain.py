"""A network in which each box feeds the next, as HTML: one line per box, as wide as the page.

In: a Network panel. Out: HTML. Pictures of networks that branch are in ``svg/network.py``.
"""

from markupsafe import Markup

from tfprof_nb._units import percent
from tfprof_nb.render.markup import element, join, limited
from tfprof_nb.render.panels import Box, Network
from tfprof_nb.render.theme import VERMILLION

_BORDER = "rgba(128,128,128,.5)"
_ARROW = element("div", "↓", style="line-height:15px;text-align:center;opacity:.6", aria_hidden="true")
_LINE = "display:flex;gap:14px;align-items:baseline;padding:4px 10px"
_WORDS = "display:flex;flex-wrap:wrap;flex:1 1 auto;gap:0 14px;align-items:baseline;min-width:0"


def is_chain(panel: Network) -> bool:
    """Return whether each box is fed by the one before it, and by no other."""
    return all(list(box.inputs) == [k - 1] * (k > 0) for k, box in enumerate(panel.boxes))


def chain(panel: Network) -> Markup:
    """Draw the boxes, the first on top, with a bar for the share of each."""
    boxes = [_box(box, panel.color) for box in panel.boxes]
    return join([boxes[0], *(part for box in boxes[1:] for part in (_ARROW, box))])


def _box(box: Box, color: str) -> Markup:
    color, edge = (VERMILLION, VERMILLION) if box.mark else (color, _BORDER)
    share = percent(100 * box.share)
    name = element("span", limited(box.name), style="font-weight:600;overflow-wrap:anywhere")
    mark = element("span", box.mark, style=f"font-weight:600;color:{VERMILLION}") if box.mark else ""
    about = element("span", limited(" · ".join(box.lines)), style="font-size:12px;opacity:.75")
    number = element("span", share, style="font-weight:600;font-variant-numeric:tabular-nums")
    bar = element("div", style=f"height:5px;width:{min(100.0, 100 * box.share):.2f}%;background-color:{color}")
    line = element("div", element("div", name, mark, about, style=_WORDS), number, style=_LINE)
    return element("div", line, bar, class_="tfp-chained", style=f"border:1px solid {edge};border-radius:4px")
