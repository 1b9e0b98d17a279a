"""How a view gets into the output of a notebook cell, in any front end.

There are two outputs: first the static form, then the widget. A live notebook shows the widget, whose script hides the
static form; a notebook that was reopened without a kernel shows the static form, whose style rule hides the widget's
"model not found". A single output with both would show that message instead of the HTML. Outside notebooks the text
form is printed.
"""

import sys
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from markupsafe import Markup

from tfprof_nb.render.markup import element
from tfprof_nb.render.panels import Panel
from tfprof_nb.render.static_form import opened, static_view
from tfprof_nb.render.text import text_view

WIDGET_TYPE = "application/vnd.jupyter.widget-view+json"
# JupyterLab lets the browser hold the active cell where it is: after Shift+Enter the next one. What grows above it, our
# output, would leave the screen at its upper end. So that cell moves instead, but not while somebody writes in it.
_ANSWER = ":has(.tfp-live,[id^=tfp-static])"
_STAYS = Markup(  # noqa: S704 - of the text above
    f".jp-Cell{_ANSWER} + .jp-Cell.jp-mod-active:not(:has(.cm-content:focus .cm-line > span)),"
    f".jp-Notebook{_ANSWER} .jp-Notebook-footer{{overflow-anchor:none!important}}"
)


def in_notebook() -> bool:
    """Return whether output goes to a front end that shows HTML: whether this is a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


class Place:
    """Where a view stands in a cell's output: its static form and, below that, its widget.

    A cell can reserve the place before it has the view, and show a line there meanwhile.
    """

    def __init__(self, has_widget: bool = True) -> None:
        self._form, self._widget = (f"tfp-place-{uuid4().hex[:12]}" for _ in range(2))
        self._has_widget, self._reserved = has_widget, False

    def reserve(self, html: Markup, text: str) -> None:
        """Show something in the place, or something else."""
        styled = element("div", element("style", _STAYS), html) if html else html
        _publish(_bundle(styled, text), {}, transient={"display_id": self._form}, update=self._reserved)
        if self._has_widget and not self._reserved:
            _publish(_bundle(Markup(), ""), {}, transient={"display_id": self._widget})
        self._reserved = True

    def show_static(self, html: Markup, text: str, static_id: str, *, update: bool = False) -> None:
        """Show the static form; with ``update`` in place of the one that is shown."""
        publish_static(html, text, static_id, self._form, update=update or self._reserved)

    def show_widget(self, model_id: str) -> None:
        """Show the widget."""
        publish_widget(model_id, self._widget, update=self._reserved)


def show_static(title: str, panels: Sequence[Panel], place: Place | None = None) -> None:
    """Show panels without a widget: as HTML in a notebook, else as text."""
    if not in_notebook():
        print(text_view(title, panels))  # noqa: T201 - a terminal's way to show something
        return
    panels = opened(panels)
    (place or Place()).show_static(static_view(title, panels), text_view(title, panels), new_static_id())


def new_static_id() -> str:
    """Return an id for the static form of one view."""
    return f"tfp-static-{uuid4().hex[:12]}"


def publish_static(
    html: Markup, text: str, static_id: str, display_id: str | None = None, *, update: bool = False
) -> None:
    """Emit the static form, with the rule that hides the widget after it if the widget can't be drawn.

    With ``update`` it replaces what was emitted with the same ``display_id``.
    """
    # The output below: "model not found", which is a widget without content, or JupyterLab's "Loading widget...".
    widget = f".jp-OutputArea-child:has(#{static_id}) + .jp-OutputArea-child"
    rule = (
        f"{widget}:has(.jupyter-widgets):not(:has(.jupyter-widgets > *)),"
        f"{widget}:has(> .lm-Panel.jp-OutputArea-output:not([data-mime-type])):not(:has(.jp-OutputArea-output > *))"
        "{display:none}"
    )
    framed = element("div", element("style", Markup(rule), _STAYS), html, id=static_id)  # noqa: S704 - of ids that we made
    _publish(_bundle(framed, text), {}, transient={"display_id": display_id or static_id}, update=update)


def publish_widget(model_id: str, display_id: str | None = None, *, update: bool = False) -> None:
    """Emit the widget; its text is empty, since the static form above it has one."""
    reference = {"version_major": 2, "version_minor": 0, "model_id": model_id}
    transient = {"display_id": display_id} if display_id else {}
    _publish({WIDGET_TYPE: reference, "text/plain": ""}, colab_metadata(), transient=transient, update=update)


def _bundle(html: Markup, text: str) -> dict[str, str]:
    return {"text/html": str(html), "text/plain": text}


def _publish(data: dict[str, Any], metadata: dict[str, Any], **options: Any) -> None:
    from IPython.display import publish_display_data

    publish_display_data(data, metadata, **options)


def colab_metadata() -> dict[str, Any]:
    """Turn on Colab's manager of third-party widgets, and return the metadata by which outputs refer to it.

    https://github.com/googlecolab/colabtools/issues/498
    """
    output: Any = sys.modules.get("google.colab.output")
    if output is None:
        return {}
    output.enable_custom_widget_manager()
    # The address has no public name; anywidget reads it here, too.
    url = getattr(getattr(output, "_widgets", None), "_installed_url", None)
    return {WIDGET_TYPE: {"colab": {"custom_widget_manager": {"url": url}}}} if url else {}
