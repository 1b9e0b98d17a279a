"""A line and small bars that stand for a view until there is one: HTML without script, cheap to draw again."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from tfprof_nb.render import theme
from tfprof_nb.render.markup import element, empty

_WIDTH_PX, _HEIGHT_PX, _CUT_PX, _BAR_PX = 720, 40, 34, 10
_CUT = 2.5  # times the typical bar: higher bars are cut, so that they don't flatten the others
_STYLE = "font:13px system-ui,sans-serif;padding:4px 0"


def live_html(line: str, colored: str, bars: Sequence[tuple[float, float]], typical: float) -> Markup:
    """Draw a line of text above bars.

    Parameters
    ----------
    colored
        The words in it, if it has them, that say what the coloured parts of the bars are.
    bars
        The height of each bar, and of its coloured part.
    typical
        The height of most bars.
    """
    before, words, after = line.partition(colored)
    key = element("span", " ■", style=f"color:{theme.VERMILLION}") if words and any(part for _, part in bars) else ""
    return element(
        "div", element("div", before, words, key, after), _chart(bars, typical), class_="tfp-live", style=_STYLE
    )


def _chart(bars: Sequence[tuple[float, float]], typical: float) -> Markup:
    """Draw the bars as one path for each colour: an element for each bar would cost four times as much."""
    highest = min(max((height for height, _ in bars), default=0.0), _CUT * typical) or 1.0
    cuts = [height > highest for height, _ in bars]
    scale = _HEIGHT_PX / highest
    tall = [_CUT_PX if cut else round(scale * height) for (height, _), cut in zip(bars, cuts, strict=True)]
    parts = [round(px * min(part / height, 1)) if height else 0 for px, (height, part) in zip(tall, bars, strict=True)]
    paths = [
        empty("path", fill=theme.GREY, d=_bars(tall)),
        empty("path", fill=theme.VERMILLION, d=_bars(parts)),
        empty("path", stroke=theme.GREY, stroke_width=3, stroke_dasharray=3, d=_dashes(cuts)),
    ]
    width = _BAR_PX * max(len(bars), 1)
    style = f"display:block;width:min(100%,{min(width, _WIDTH_PX)}px);height:{_HEIGHT_PX}px;margin-top:4px"
    box = {"viewBox": f"0 0 {width} {_HEIGHT_PX}", "preserveAspectRatio": "none"}
    return element("svg", *paths, style=style, aria_hidden="true", **box)


def _bars(heights: Iterable[int]) -> str:
    return "".join([f"M{_BAR_PX * k} {_HEIGHT_PX}v-{px}h{_BAR_PX - 1}v{px}z" for k, px in enumerate(heights)])


def _dashes(cuts: Iterable[bool]) -> str:
    """Return the path of lines that show where bars were cut: the bars end below, the lines go on."""
    return "".join([f"M{_BAR_PX * k} 2h{_BAR_PX - 1}" for k, cut in enumerate(cuts) if cut])
