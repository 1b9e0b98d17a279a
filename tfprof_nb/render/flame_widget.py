"""A flame graph as a widget: click to zoom, type to search.

In: a Flame panel. Out: an anywidget; its JavaScript is built from ``js/src/flame``.
"""

from typing import Any

import anywidget
import traitlets

from tfprof_nb.render.bundle import source
from tfprof_nb.render.flame_boxes import boxes
from tfprof_nb.render.panels import Flame


class FlameWidget(anywidget.AnyWidget):
    """Draws the boxes of a flame graph; ``boxes`` has a list per column, names and colours as numbers of texts."""

    _esm, _css = source("flame")

    boxes: Any = traitlets.Dict().tag(sync=True)
    legend: Any = traitlets.List().tag(sync=True)

    def __init__(self, panel: Flame, **traits: Any) -> None:
        super().__init__(boxes=boxes(panel), legend=[list(entry) for entry in panel.legend], **traits)
