"""The title line of a view, as a widget; its JavaScript is built from ``js/src/head``."""

import anywidget
import traitlets

from tfprof_nb.render.bundle import source


class HeadWidget(anywidget.AnyWidget):
    """A view's title line; it also applies the notebook's theme to the view.

    While it is on the page, it hides the static forms, whose ids begin with ``static_id``. When the kernel has ended,
    it offers ``reopen``: code that shows the view again.
    """

    _esm, _css = source("head")

    title = traitlets.Unicode().tag(sync=True)
    static_id = traitlets.Unicode().tag(sync=True)
    reopen = traitlets.Unicode().tag(sync=True)
