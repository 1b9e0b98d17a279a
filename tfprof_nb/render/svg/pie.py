"""SVG of a pie with its legend beside it.

In: a Pie panel. Out: SVG.
"""

from __future__ import annotations

import math

from markupsafe import Markup

from tfprof_nb._units import cell, percent, shorten
from tfprof_nb.render.panels import Pie
from tfprof_nb.render.short_names import short_names
from tfprof_nb.render.svg.picture import WIDTH, Picture

_RADIUS = 84.0
_ROW = 20


def pie(chart: Pie) -> Markup:
    """Draw one slice per part, clockwise from the top; the legend has name, value and share."""
    parts = [part for part in chart.parts if part.value > 0]
    whole = sum(part.value for part in parts)
    written = [f"{cell(part.value, chart.unit)} ({percent(100 * part.value / whole)})" for part in parts]
    described = ", ".join(f"{shorten(part.label, 60)} {text}" for part, text in zip(parts, written, strict=True))
    picture = Picture(f"{chart.title}: {described}", max(2 * _RADIUS + 12, _ROW * len(parts) + 12))
    begin, left = 0.0, 2 * _RADIUS + 40
    labels = short_names([part.label for part in parts], 40, chart.trim)
    for k, (part, text) in enumerate(zip(parts, written, strict=True)):
        end = begin + part.value / whole
        picture.path(_slice(begin, end), fill=part.color, stroke="#fff", stroke_width=1)
        y = 20 + k * _ROW
        picture.rect(left, y - 10, 11, 11, part.color, f"{part.label}: {text}")
        picture.text(left + 18, y, labels[k])
        picture.text(WIDTH - 8, y, text, "end")
        begin = end
    return picture.svg()


def _slice(begin: float, end: float) -> str:
    """Return the outline of a slice between two shares (0 to 1) of the circle."""
    middle, (x, y), (to_x, to_y) = _RADIUS + 6, _at(begin), _at(end)
    if end - begin > 1 - 1e-9:
        return f"M{middle:g} 6a{_RADIUS:g} {_RADIUS:g} 0 1 1 -.01 0z"
    large = int(end - begin > 0.5)
    return f"M{middle:g} {middle:g}L{x:.2f} {y:.2f}A{_RADIUS:g} {_RADIUS:g} 0 {large} 1 {to_x:.2f} {to_y:.2f}z"


def _at(share: float) -> tuple[float, float]:
    """Return the point of the circle after a share of it, clockwise from the top."""
    turn = 2 * math.pi * share
    return _RADIUS + 6 + _RADIUS * math.sin(turn), _RADIUS + 6 - _RADIUS * math.cos(turn)
