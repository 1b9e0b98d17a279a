"""A title and panels: what there is to show. Its widget is made only when it is displayed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfprof_nb.render import display
from tfprof_nb.render.panels import Panel
from tfprof_nb.render.report import framed_report
from tfprof_nb.render.text import text_view

if TYPE_CHECKING:
    from tfprof_nb.render.view import View


@dataclass(frozen=True)
class Content:
    """Panels under a title; `View` is the widget of them, and says what the attributes mean.

    ``in_text`` returns what text shows instead, where all pages are too much to print.

    ipywidgets keeps each widget, and with it the data, until the widget is closed; this class keeps none.
    """

    title: str
    panels: Sequence[Panel]
    static: bool = False
    costly: bool = False
    in_text: Callable[[], Sequence[Panel]] | None = None
    reopen: str = ""

    def view(self) -> View:
        """Return the widget."""
        from tfprof_nb.render.view import View

        return View(self.title, self.panels, static=self.static, costly=self.costly, reopen=self.reopen)

    def show(self, place: display.Place | None = None) -> None:
        """Show it in a place of the cell's output, or at its end."""
        if not display.in_notebook():
            print(self)  # noqa: T201 - a terminal's way to show something
        elif self.static:
            display.show_static(self.title, self.panels, place)
        else:
            view = self.view()
            shows(view)
            view.show(place)

    def _ipython_display_(self, **_: Any) -> None:
        self.show()

    def _repr_html_(self) -> str:
        return str(framed_report(self.title, self.panels))

    def __str__(self) -> str:
        return text_view(self.title, self.in_text() if self.in_text else self.panels)


# By the notebook cell's id: the id of the message that ran it last, and the views of that run.
_shown: dict[str, tuple[str, list[View]]] = {}


def shows(view: View) -> None:
    """Record a view of the running notebook cell, and close the views of the cell's last run.

    Only for views that nobody else can hold and show again. Does nothing if the front end sends no ids of cells.
    """
    cell, run = _running()
    if not cell:
        return
    last_run, views = _shown.get(cell, (run, []))
    earlier = views if run != last_run else []
    _shown[cell] = run, [*views[len(earlier) :], view]
    for replaced in earlier:
        replaced.close_unseen()


def _running() -> tuple[str, str]:
    """Return the ids of the running notebook cell and of the message that runs it; empty if unknown."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    request = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return request.get("metadata", {}).get("cellId", ""), request.get("header", {}).get("msg_id", "")
