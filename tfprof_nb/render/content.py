"""What there is to show: a title and panels, as text and static HTML; a widget is made only to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from tfprof_nb.render import display
from tfprof_nb.render import notebook_cells as cells
from tfprof_nb.render.html import opened, static_view
from tfprof_nb.render.panels import Panel
from tfprof_nb.render.text import text_view

if TYPE_CHECKING:
    from tfprof_nb.render.view import View


@dataclass(frozen=True)
class Content:
    """Panels under a title, as in `View`, which is the widget of it.

    ipywidgets keeps each widget, and so whatever it shows, until it is closed; this keeps nothing.
    """

    title: str
    panels: Sequence[Panel]
    static: bool = False

    def view(self) -> View:
        """Return the widget."""
        from tfprof_nb.render.view import View

        return View(self.title, self.panels, static=self.static)

    def _ipython_display_(self, **_: Any) -> None:
        if not display.in_notebook():
            print(self)  # noqa: T201 - a terminal's way to show something
        elif self.static:
            panels, static_id = opened(self.panels), f"tfp-static-{uuid4().hex[:12]}"
            display.publish_static(static_view(self.title, panels), text_view(self.title, panels), static_id)
        else:
            view = self.view()
            cells.shows(view)
            view._ipython_display_()

    def __str__(self) -> str:
        return text_view(self.title, self.panels)
