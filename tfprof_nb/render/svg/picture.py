"""SVG pictures of the charts, for every place without script: reports, notebooks that were reopened, GitHub.

In: coordinates and text. Out: SVG. Text and axes have one grey that is readable on white and on black, since a picture
in an ``<img>`` can't follow the page's theme; for the same reason pictures have no background.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from tfprof_nb._units import shorten
from tfprof_nb.render.markup import Attribute, element, empty, printable_markup
from tfprof_nb.render.ticks import tick_text

WIDTH = 860
INK = "#7b7b7b"
FONT = 12
_LARGEST, _SMALLEST = 1.12, 0.8  # times its own width
_CHARACTER = 7.0  # mean width of a character of size FONT in common system fonts


def text_width(text: str) -> float:
    """Estimate the width of a label in pixels."""
    return len(text) * _CHARACTER


def compact(value: float) -> str:
    """Write a coordinate with one decimal, in as few characters as possible."""
    return f"{value + 0.0:.1f}".removesuffix(".0")


@dataclass
class Picture:
    """One SVG, made of elements; ``label`` is its text for screen readers."""

    label: str
    height: float
    width: float = WIDTH
    elements: list[Markup] = field(default_factory=list)

    def rect(self, x: float, y: float, width: float, height: float, color: str, title: str = "") -> None:
        """Draw a filled box; ``title`` is its tooltip."""
        tooltip = [element("title", title)] if title else []
        box = {"x": compact(x), "y": compact(y), "width": compact(width), "height": compact(height)}
        self.elements.append(element("rect", *tooltip, **box, fill=color))

    def path(self, d: str, **attributes: Attribute) -> None:
        """Draw a path; an underscore in an attribute's name stands for a hyphen."""
        self.elements.append(empty("path", d=d, **attributes))

    def text(
        self, x: float, y: float, text: str, anchor: str = "start", color: str = INK, weight: int | None = None
    ) -> None:
        """Write one line; ``y`` is its baseline."""
        side = None if anchor == "start" else anchor
        place = {"x": compact(x), "y": compact(y)}
        self.elements.append(element("text", text, **place, text_anchor=side, fill=color, font_weight=weight))

    def svg(self, style: str = "") -> Markup:
        """Return the whole picture."""
        attributes: dict[str, Attribute] = {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {compact(self.width)} {compact(self.height)}",
            "role": "img",
            "aria_label": self.label,
            "font_family": "system-ui,sans-serif",
            "font_size": FONT,
            "style": style or None,
        }
        return printable_markup(element("svg", *self.elements, **attributes))


@dataclass(frozen=True)
class Plot:
    """The area inside the axes, in pixels, and the values at its edges."""

    left: float
    top: float
    width: float
    height: float
    x_low: float
    x_high: float
    y_high: float

    def x(self, value: float) -> float:
        """Return the horizontal position of a value."""
        return self.left + self.width * (value - self.x_low) / ((self.x_high - self.x_low) or 1)

    def y(self, value: float) -> float:
        """Return the vertical position of a value; the axis starts at zero."""
        return self.top + self.height * (1 - value / (self.y_high or 1))

    @property
    def bottom(self) -> float:
        """The vertical position of the x axis."""
        return self.top + self.height


def draw_axes(
    picture: Picture, plot: Plot, x_ticks: Sequence[float], y_ticks: Sequence[float], x_label: str, y_label: str
) -> None:
    """Draw grid lines, tick labels and the names of both axes."""
    grid = "".join(f"M{compact(plot.left)} {compact(plot.y(t))}h{compact(plot.width)}" for t in y_ticks)
    picture.path(grid, stroke=INK, stroke_opacity=0.3, stroke_width=1)
    for t in y_ticks:
        picture.text(plot.left - 6, plot.y(t) + 4, tick_text(t), "end")
    for t in x_ticks:
        picture.text(plot.x(t), plot.bottom + 16, tick_text(t), "middle")
    picture.text(plot.left + plot.width / 2, plot.bottom + 34, shorten(x_label, 80), "middle")
    picture.text(plot.left - 44, plot.top - 10, shorten(y_label, 60))


def draw_legend(picture: Picture, x: float, y: float, entries: Sequence[tuple[str, str]]) -> None:
    """Draw a column of entries, label and colour, each with a box of its colour."""
    for k, (label, color) in enumerate(entries):
        line = y + 18 * k
        picture.rect(x, line - 9, 10, 10, color)
        picture.text(x + 15, line, shorten(label, int((picture.width - x - 15) / _CHARACTER)))


def legible(width: float) -> str:
    """Return the style of a picture of boxes with text: as large as its text needs, however narrow or wide it is."""
    return f"max-width:{round(width * _LARGEST)}px;min-width:{round(width * _SMALLEST)}px"


def data_uri(svg: Markup) -> str:
    """Return the picture as the address of an ``<img>``, the only form of SVG that untrusted notebooks show."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode("ascii")
