"""A title and panels: what there is to show. Its widget is made only when it is displayed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfprof_nb.render import display, notebook_cells
from tfprof_nb.render.panels import Panel
from tfprof_nb.render.text import text_view

if TYPE_CHECKING:
    from tfprof_nb.render.view import View


@dataclass(frozen=True)
class Content:
    """Panels under a title; `View` is the widget of them, and says what the attributes mean.

    ipywidgets keeps each widget, and with it the data, until the widget is closed; this class keeps none.
    """

    title: str
    panels: Sequence[Panel]
    static: bool = False
    costly: bool = False

    def view(self) -> View:
        """Return the widget."""
        from tfprof_nb.render.view import View

        return View(self.title, self.panels, static=self.static, costly=self.costly)

    def show(self, place: display.Place | None = None) -> None:
        """Show it in a place of the cell's output, or at its end."""
        if self.static or not display.in_notebook():
            display.show_static(self.title, self.panels, place)
            return
        view = self.view()
        notebook_cells.shows(view)
        view.show(place)

    def _ipython_display_(self, **_: Any) -> None:
        self.show()

    def __str__(self) -> str:
        return text_view(self.title, self.panels)
