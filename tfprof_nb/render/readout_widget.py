"""The legend of a chart, as a widget that also shows the values under the pointer.

In: names, colours, values. Out: an anywidget; its JavaScript is built from ``js/src/readout``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import numpy as np
import traitlets

from tfprof_nb.render.bundle import source
from tfprof_nb.render.legend import hatched_label
from tfprof_nb.render.panels import Series

# The background of a legend's swatch, in CSS.
_HATCHED = "repeating-linear-gradient(135deg, #8a8a8a 0 2px, transparent 2px 4px)"


class ReadoutWidget(anywidget.AnyWidget):
    """The legend of the chart with the CSS class ``chart``: means at rest, values at the pointer.

    It names the chart ``title`` for screen readers and offers its numbers as a table. ``selected`` is the index of the
    bar that the reader selected with Enter; charts set it when a bar is clicked.
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


def entries(series: Sequence[Series], means: Sequence[str]) -> list[dict[str, Any]]:
    """Return the legend's entry for each series: its values, and its mean, which is shown at rest."""
    return [
        {
            "label": item.label,
            "title": item.meaning,
            "color": item.color,
            "values": [float(f"{v:.4g}") if np.isfinite(v) else None for v in np.asarray(item.values, dtype=float)],
            "mean": mean,
        }
        for item, mean in zip(series, means, strict=True)
    ]


def hatched_entry(label: str) -> dict[str, Any]:
    """Return the legend's entry for hatched bars."""
    return {"label": hatched_label(label), "color": _HATCHED, "values": [], "mean": ""}
