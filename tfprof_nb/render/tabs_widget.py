"""Tabs, a menu or a slider that switches panes in the browser, even while the kernel is busy."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import anywidget
import traitlets.traitlets as t

from tfprof_nb.render.bundle import source


class TabsWidget(anywidget.AnyWidget):
    """Shows one of several widgets, which have the CSS classes of `pane_class`, and hides the others.

    Parameters
    ----------
    names
        The pages' names.
    kind
        ``tabs``, ``menu`` or ``slider``.
    label
        What a menu or a slider chooses.
    groups
        The tab that each page belongs to; pages of one tab stand in a row of their own. Empty if each page is a tab.

    Attributes
    ----------
    selected
        Index of the open tab; observe it to fill a pane when it is first opened.
    opened
        What to show for the link followed last: ``{"page", "op", "range"}``.
    """

    _esm, _css = source("tabs")

    names = t.List(t.Unicode()).tag(sync=True)
    groups = t.List(t.Unicode()).tag(sync=True)
    selected = t.Int(0).tag(sync=True)
    kind = t.Unicode("tabs").tag(sync=True)
    label = t.Unicode("").tag(sync=True)
    opened: Any = t.Dict(None, allow_none=True).tag(sync=True)
    uid = t.Unicode().tag(sync=True)

    def __init__(self, names: Sequence[str], **traits: Any) -> None:
        super().__init__(names=list(names), uid=uuid4().hex, **traits)

    def pane_class(self, index: int) -> str:
        """Return the CSS class for the pane of tab ``index`` (``box.add_class(...)``)."""
        return f"tfp-pane-{self.uid}-{index}"
