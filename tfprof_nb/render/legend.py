"""The two small widgets around the others: a view's title line, and the legend that reads out a chart's values.

In: names, colours, values. Out: anywidgets, whose JavaScript is built from ``js/src/head`` and ``js/src/readout``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import numpy as np
import traitlets

from tfprof_nb.render.bundle import source
from tfprof_nb.render.panels import Series

# The background of a legend's swatch, which is CSS.
_HATCHED = "repeating-linear-gradient(135deg, #8a8a8a 0 2px, transparent 2px 4px)"


class Head(anywidget.AnyWidget):
    """A view's title line; it also tells the view the notebook's theme.

    While it is in the page, it hides the static forms, whose ids begin with ``static_id``.
    """

    _esm, _css = source("head")

    title = traitlets.Unicode().tag(sync=True)
    static_id = traitlets.Unicode().tag(sync=True)


class Readout(anywidget.AnyWidget):
    """The legend of the chart with the CSS class ``chart``: means at rest, values where the pointer is.

    It names the chart ``title`` for screen readers and offers its numbers as a table. ``selected`` is the index of the
    mark that the reader chose with Enter; charts set it when one is clicked.
    """

    _esm, _css = source("readout")

    chart = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    x: traitlets.List[Any] = traitlets.List().tag(sync=True)
    x_label = traitlets.Unicode().tag(sync=True)
    entries: traitlets.List[Any] = traitlets.List().tag(sync=True)
    summary = traitlets.Unicode().tag(sync=True)
    notes: traitlets.List[str] = traitlets.List().tag(sync=True)
    selected = traitlets.Int(None, allow_none=True).tag(sync=True)


def entries(series: Sequence[Series], averages: Sequence[str]) -> list[dict[str, Any]]:
    """Return what :class:`Readout` shows of each series: its values, and its mean while nothing is pointed at."""
    return [
        {
            "label": one.label,
            "title": one.meaning,
            "color": one.color,
            "values": [float(f"{v:.4g}") if np.isfinite(v) else None for v in np.asarray(one.values, dtype=float)],
            "mean": mean,
        }
        for one, mean in zip(series, averages, strict=True)
    ]


def hatched(label: str) -> dict[str, Any]:
    """Return the legend's entry for bars that are set apart."""
    return {"label": f"hatched: {label}, not in averages", "color": _HATCHED, "values": [], "mean": ""}
