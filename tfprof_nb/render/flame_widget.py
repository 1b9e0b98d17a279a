"""A flame graph as a widget: click to zoom, type to search.

In: a Flame panel. Out: an anywidget; its JavaScript is built from ``js/src/flame``.
"""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from tfprof_nb._units import printable
from tfprof_nb.render.bundle import source
from tfprof_nb.render.panels import Flame

_LONGEST = 300  # characters of a name


class FlameWidget(anywidget.AnyWidget):
    """Draws the boxes of a flame graph; ``boxes`` has a list per column, names and colours as numbers of texts."""

    _esm, _css = source("flame")

    boxes: Any = traitlets.Dict().tag(sync=True)
    legend: Any = traitlets.List().tag(sync=True)

    def __init__(self, panel: Flame, **traits: Any) -> None:
        super().__init__(boxes=boxes(panel), legend=[list(entry) for entry in panel.legend], **traits)


def boxes(panel: Flame) -> dict[str, list[Any]]:
    """Return the columns that are sent to the browser; times have six digits."""
    frame = panel.frame
    texts = list(dict.fromkeys(frame["name"]))
    number = {text: k for k, text in enumerate(texts)}
    times = {name: [float(f"{value:.6g}") for value in frame[name]] for name in ("start", "total", "own")}
    return {
        "names": [printable(str(text))[:_LONGEST] for text in texts],
        "name": [number[text] for text in frame["name"]],
        "depth": [int(depth) for depth in frame["depth"]],
        "color": [str(color) for color in frame["color"]],
        **times,
    }
