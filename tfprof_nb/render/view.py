"""A view: a title and panels, shown as widgets, static HTML or text, depending on the place."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import ipywidgets
import traitlets

from tfprof_nb.render import display
from tfprof_nb.render.browser_widgets import HeadWidget
from tfprof_nb.render.idle import when_idle
from tfprof_nb.render.panels import Note, Panel
from tfprof_nb.render.report import framed_report
from tfprof_nb.render.selection import Selection
from tfprof_nb.render.static_form import first_pages, opened, static_view
from tfprof_nb.render.text import text_view
from tfprof_nb.render.widget_tree import close_all, whole
from tfprof_nb.render.widgets import build_all


class View(Selection, ipywidgets.VBox):  # type: ignore[misc]
    """Panels under a title.

    Parameters
    ----------
    title
        The title, in one line.
    panels
        What to show, from top to bottom.
    static
        Whether to emit only the static form, which does not depend on a running kernel.
    costly
        Whether pages take long to compute: the static form gets all but the first when no cell runs.
    reopen
        Code that shows the same in a kernel that knows nothing of it; empty if there is none.

    Notes
    -----
    The widgets inside are created when the view is first displayed, by itself or inside another widget. ipywidgets
    keeps them, and with them the profile, until `close`.
    """

    # The front end counts: inside another widget, nobody calls ``_ipython_display_``.
    _view_count = traitlets.Int(0, allow_none=True).tag(sync=True)

    def __init__(
        self, title: str, panels: Sequence[Panel], static: bool = False, costly: bool = False, reopen: str = ""
    ) -> None:
        super().__init__(layout={"width": "100%"})
        self.add_class("tfp-view")
        self._title, self._panels, self._static, self._costly = title, list(panels), static, costly
        self._built, self._reopen = False, reopen
        # The ids of all static forms of this view begin with the same text, so that one rule hides them.
        self._static_id, self._displays = f"{display.new_static_id()}-", 0
        self.observe(lambda _: self._build(), "_view_count")

    def _build(self) -> None:
        """Create the widgets, once."""
        if self._built:
            return
        # On Colab the widget manager must be on before the first widget of another library exists.
        display.colab_metadata()
        head = HeadWidget(title=self._title, static_id=self._static_id, reopen=self._reopen)
        self.children, self._built = (head, *build_all(self._panels, self)), True

    def _ipython_display_(self, **_: Any) -> None:
        self.show()

    def show(self, place: display.Place | None = None) -> None:
        """Show it in a place of the cell's output, or at its end."""
        place = place or display.Place()
        if self._static or not display.in_notebook():
            display.show_static(self._title, self._panels, place)
            return
        self._displays += 1
        static_id = f"{self._static_id}{self._displays}"
        # The widget computes one page, the static form all of them: it starts with one, so that the widget comes soon.
        glance = first_pages(self._panels)
        place.show_static(static_view(self._title, glance), text_view(self._title, glance), static_id)
        self._build()
        place.show_widget(self.model_id)
        complete = partial(self._complete_static, place, static_id)
        if self._costly:
            when_idle(complete)
        else:
            complete()

    def _complete_static(self, place: display.Place, static_id: str) -> None:
        """Show the static form with all pages."""
        if self.comm is None:
            return
        panels = opened(self._panels)
        place.show_static(static_view(self._title, panels), text_view(self._title, panels), static_id, update=True)
        self._panels = panels

    def close(self) -> None:
        """Close the view with every widget in it, and release the profile. It vanishes wherever it is shown."""
        if self.comm is None:
            return
        _, *inner = whole(self)
        super().close()
        self.unobserve_all()
        close_all(inner)
        self.children, self._built = (), False
        self._panels, self._static = [Note("This view was closed. Create a new one to see it again.")], True

    def close_unseen(self, _: object = None) -> None:
        """Close the view as soon as no front end shows it."""
        if self._view_count:
            self.observe(self.close_unseen, "_view_count")
        else:
            self.close()

    def to_html(self) -> str:
        """Return the static form: HTML without script, of at most 64 KB."""
        return str(static_view(self._title, self._panels))

    def _repr_html_(self) -> str:
        return str(framed_report(self._title, self._panels))

    def __str__(self) -> str:
        return text_view(self._title, self._panels)

    def __repr__(self) -> str:
        return f"<View {self._title!r}>"
