"""SVG of a flame graph: boxes below the box that holds them."""

from typing import Any

from markupsafe import Markup

from tfprof_nb._units import cell, percent, shorten
from tfprof_nb.render.panels import Flame
from tfprof_nb.render.svg.picture import WIDTH, Picture, draw_legend
from tfprof_nb.render.theme import BLUE

_ROW, _CHARACTER = 18, 7.4
_LEAST_WIDTH, _LEAST_CHARACTERS = 1.5, 4
_MAX_DEPTH = 16
_LEGEND_ENTRY = 130
_DARK = (BLUE,)  # colours on which white is readable


def flame(chart: Flame) -> Markup:
    """Draw what holds the most, at most so deep; boxes too narrow to see are left out."""
    frame = chart.frame.rename(columns={"name": "label"})  # itertuples has a name of its own
    whole = float(frame["total"].iloc[0]) or 1.0
    scale = WIDTH / whole
    seen = frame[(frame["total"] * scale >= _LEAST_WIDTH) & (frame["depth"] < _MAX_DEPTH)]
    legend = 22 if chart.legend else 0
    picture = Picture(_label(chart, seen), _ROW * (int(seen["depth"].max()) + 1) + legend + 2)
    for row in seen.itertuples():
        _box(picture, row, scale, whole, chart)
    for k, entry in enumerate(chart.legend):
        draw_legend(picture, 2 + k * _LEGEND_ENTRY, picture.height - 6, [entry])
    return picture.svg()


def _box(picture: Picture, row: Any, scale: float, whole: float, chart: Flame) -> None:
    x, y, width = row.start * scale, row.depth * _ROW, row.total * scale
    share = percent(100 * row.total / whole)
    picture.rect(
        x, y, max(width - 1, 0.6), _ROW - 1, row.color, f"{row.label}: {cell(row.total, chart.unit)} ({share})"
    )
    room = int((width - 8) / _CHARACTER)
    if room >= _LEAST_CHARACTERS:
        label = row.label if len(row.label) <= room else row.label[: room - 1] + "…"
        picture.text(x + 4, y + 13, label, color="#fff" if row.color in _DARK else "#000")


def _label(chart: Flame, seen: Any) -> str:
    inner = seen[seen["depth"] == 1].head(5)
    largest = ", ".join(f"{row.label} {cell(row.total, chart.unit)}" for row in inner.itertuples())
    return f"flame graph of {seen['label'].iloc[0]}: {shorten(largest, 300)}"
