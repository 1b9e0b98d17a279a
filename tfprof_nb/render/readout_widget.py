"""The legend of a chart, as a widget that also shows the values under the pointer.

In: names, colours, values. Out: an anywidget; its JavaScript is built from ``js/src/readout``.
"""

from typing import Any

import anywidget
import traitlets

from tfprof_nb.render.bundle import source


class ReadoutWidget(anywidget.AnyWidget):
    """The legend of the chart with the CSS class ``chart``: means at rest, values at the pointer.

    It names the chart ``title`` for screen readers and offers its numbers as a table. ``selected`` is the index of the
    bar that the reader selected with Enter; charts set it when a bar is clicked. ``figure`` is the id of bqplot's
    figure, which by itself is drawn anew for another width only when it is seen, and then too late.
    """

    _esm, _css = source("readout")

    chart = traitlets.Unicode().tag(sync=True)
    figure = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    x: traitlets.List[Any] = traitlets.List().tag(sync=True)
    x_label = traitlets.Unicode().tag(sync=True)
    entries: traitlets.List[Any] = traitlets.List().tag(sync=True)
    summary = traitlets.Unicode().tag(sync=True)
    notes: traitlets.List[str] = traitlets.List().tag(sync=True)
    selected = traitlets.Int(None, allow_none=True).tag(sync=True)
