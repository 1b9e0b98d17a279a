"""Panels as widgets, tied to the view's selection.

In: panels and a selection. Out: ipywidgets. Notes and key figures are HTML; charts are bqplot; tables, tabs and the
trace are our own anywidgets.
"""

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets
import numpy as np
import traitlets
from markupsafe import Markup

from tfprof_nb.render import charts
from tfprof_nb.render.browser_widgets import ChangeWidget, FlameWidget, TableWidget, TabsWidget, TraceWidget
from tfprof_nb.render.html import Detail, chart_svg, draw, network, titled
from tfprof_nb.render.idle import someone_waits
from tfprof_nb.render.markup import element
from tfprof_nb.render.offer import OfferWidget
from tfprof_nb.render.panels import (
    Bars,
    Beside,
    Change,
    Flame,
    Headline,
    HeatMap,
    Lines,
    Network,
    Note,
    Offer,
    Panel,
    StackedBars,
    Table,
    Tabs,
    Timeline,
)
from tfprof_nb.render.selection import Selection
from tfprof_nb.render.table.format import columns_of, flat
from tfprof_nb.render.widget_tree import close_all, whole

_LIVE = Detail(links="buttons")
_WIDE = {"width": "100%", "min_width": "0", "margin": "0"}
_BESIDE = ((3, 560), (2, 420))  # how panels beside each other share the width, and the width that each needs
_LOADING = element(
    "div", draw(Note("Loading … While a cell runs, this page waits for it to end.")), class_="tfp-loading"
)


def build(panel: Panel, selection: Selection) -> ipywidgets.Widget:
    """Return the widget of one panel."""
    match panel:
        case Tabs():
            return _tabs(panel, selection)
        case Beside():
            return _beside(panel, selection)
        case Timeline():
            return _titled(panel.title, _trace(panel, selection))
        case Table() if len(panel.frame):
            return _titled(panel.title, _table(flat(panel), selection))
        case Flame() if len(panel.frame):
            return _titled(panel.title, FlameWidget(panel, layout=_WIDE))
        case Offer():
            return OfferWidget(panel, lambda panels: build_all(panels, selection))
        case StackedBars() | Lines() | Bars() if not _is_empty(panel):
            about = panel.about if isinstance(panel, StackedBars) else ""
            return _titled(panel.title, _chart(panel, selection), about)
        case Network() if panel.boxes:
            return _html(network(panel, chart_svg(panel), enlarged=True))
        case HeatMap() if not _is_empty(panel):
            return _html(titled(panel.title, chart_svg(panel)))
        case Change():
            card = ChangeWidget(panel, draw(panel, _LIVE), layout=_WIDE)
            if not panel.offer:
                return card
            tries = OfferWidget(panel.offer, lambda panels: build_all(panels, selection), in_head=True)
            return ipywidgets.VBox([card, tries], layout=_WIDE, _dom_classes=("tfp-tries",))
        case Headline() | Note(kind="answer"):
            answer = _html(draw(panel, _LIVE))
            answer.add_class("tfp-answer")
            return answer
        case _:
            return _html(draw(panel, _LIVE))


def _is_empty(panel: StackedBars | Lines | Bars | HeatMap) -> bool:
    """Return whether there is nothing to draw; the HTML form of such a panel says so."""
    if isinstance(panel, HeatMap):
        return not np.isfinite(panel.values).any()
    if isinstance(panel, Bars):
        return not any(part.value > 0 for part in panel.parts)
    return not len(panel.x) or not panel.series


def _html(markup: Markup) -> ipywidgets.HTML:
    return ipywidgets.HTML(str(markup), layout=_WIDE)


def _titled(title: str, body: ipywidgets.Widget, about: str = "") -> ipywidgets.Widget:
    return ipywidgets.VBox([_html(titled(title, Markup(), about)), body], layout=_WIDE) if title else body


def _beside(panel: Beside, selection: Selection) -> ipywidgets.Widget:
    parts = build_all(panel.panels, selection)
    for part, (grows, width) in zip(parts, _BESIDE, strict=False):
        part.layout.flex = f"{grows} 1 {width}px"
    wrapped = {"flex_flow": "row wrap", "align_items": "flex-start", "grid_gap": "12px"}
    return ipywidgets.Box(parts, layout={**_WIDE, **wrapped})


def _chart(panel: StackedBars | Lines | Bars, selection: Selection) -> charts.Chart:
    if isinstance(panel, Lines):
        return charts.lines(panel)
    if isinstance(panel, Bars):
        return charts.bars(panel)
    chart = charts.stacked_bars(panel)
    if panel.selects == "step":
        chart.picked = selection.selected_step
        chart.observe(lambda c: selection.set_trait("selected_step", _whole(c["new"])), "picked")
        selection.observe(lambda c: chart.set_trait("picked", c["new"]), "selected_step")
    return chart


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _table(panel: Table, selection: Selection) -> TableWidget:
    columns = columns_of(panel)
    widget = TableWidget(panel.frame, columns, panel.depth, title=panel.title, layout=_WIDE)
    if panel.selects not in panel.frame.columns:
        return widget
    names = panel.frame[panel.selects].fillna("").astype(str).tolist()

    def pick(change: Any) -> None:
        row = change["new"]
        selection.selected_op = None if row is None else names[row] or None

    def show(change: Any) -> None:
        # The trace selects names of events, often the op with its type.
        selected = change["new"]
        wanted = [] if selected is None else [selected, selected.rpartition(":")[0] or selected]
        row = widget.selected_row
        if row is None or names[row] not in wanted:
            widget.selected_row = next((names.index(name) for name in wanted if name in names), None)

    widget.observe(pick, "selected_row")
    selection.observe(show, "selected_op")
    return widget


def _trace(panel: Timeline, selection: Selection) -> TraceWidget:
    """Return the trace; it shows the selected step and highlights the selected op."""
    widget = TraceWidget(panel.source, layout=_WIDE)
    steps = widget.header.get("steps", [])
    times = {int(step["step"]): (step["start_ps"], step["start_ps"] + step["duration_ps"]) for step in steps}

    def show_step(step: int | None) -> None:
        if step is None or step in times:
            selection.time_range = None if step is None else times[step]

    if selection.selected_step is not None:
        show_step(selection.selected_step)
    selection.observe(lambda c: show_step(c["new"]), "selected_step")
    _tie(selection, "time_range", widget, "time_range", list)
    _tie(selection, "selected_op", widget, "selected_name", panel.source.event_name)

    def select_event(link: dict[str, Any] | None) -> None:
        if link and link["op"] and link["range"]:
            found: Any = panel.source.event_of(link["op"], *map(int, link["range"]))
            widget.selected_event = found["event"] if found else None

    select_event(selection.followed)
    selection.observe(lambda c: select_event(c["new"]), "followed")
    return widget


def _tie(
    selection: Selection, name: str, widget: ipywidgets.Widget, trait: str, as_widget: Callable[[Any], Any]
) -> None:
    """Synchronise a trait of the selection with one of a widget, which starts with the selection's value."""
    # A change is not sent back: a rounded time would move what the reader is just moving.
    sending = False

    def send(target: traitlets.HasTraits, target_trait: str, value: Any) -> None:
        nonlocal sending
        if not sending:
            sending = True
            try:
                target.set_trait(target_trait, value)
            finally:
                sending = False

    def send_to_widget(value: Any) -> None:
        send(widget, trait, None if value is None else as_widget(value))

    send_to_widget(getattr(selection, name))
    selection.observe(lambda change: send_to_widget(change["new"]), name)
    widget.observe(lambda change: send(selection, name, change["new"]), trait)


def _tabs(panel: Tabs, selection: Selection) -> ipywidgets.VBox:
    """Return pages that are filled when they are first opened; the first one at once."""
    groups = [tab.group or tab.name for tab in panel.tabs] if panel.kind == "tabs" else []
    chooser = TabsWidget([tab.name for tab in panel.tabs], groups=groups, kind=panel.kind, label=panel.label)
    classes = [chooser.pane_class(k) for k in range(len(panel.tabs))]
    # Tabs have a pane each, which they name. Menus and sliders can have hundreds of pages: all those that were
    # not opened yet share one.
    shared = [classes] if panel.kind != "tabs" and classes else [[name] for name in classes]
    panes = [_pane([_html(_LOADING)], names) for names in shared]
    box = ipywidgets.VBox([chooser, *panes], layout=_WIDE)
    filled: set[int] = set()

    def fill(k: int) -> None:
        if k not in filled:
            filled.add(k)
            with someone_waits():
                children = build_all(panel.tabs[k].open(), selection)
            if panel.kind == "tabs":
                notice = panes[k].children[0]
                panes[k].children = children
                close_all(whole(notice))
            else:
                # Others keep their places: bqplot draws a chart that moves while it is hidden with a negative size.
                box.children = (*box.children, _pane(children, [classes[k]]))
                panes[0].remove_class(classes[k])
                if len(filled) == len(classes):
                    panes[0].layout.display = "none"

    def follow(target: dict[str, Any] | None) -> None:
        if target is not None:
            chooser.opened = None  # so that following the same link again is a change
            if target["op"]:
                selection.selected_op = target["op"]
            if target["range"]:
                selection.time_range = target["range"]
            selection.followed = None
            selection.followed = target

    chooser.observe(lambda change: fill(change["new"]), "selected")
    chooser.observe(lambda change: follow(change["new"]), "opened")
    if panel.tabs:
        fill(0)
    return box


def _pane(children: Sequence[ipywidgets.Widget], classes: Sequence[str]) -> ipywidgets.VBox:
    return ipywidgets.VBox(children, layout=_WIDE, _dom_classes=tuple(classes))


def build_all(panels: Sequence[Panel], selection: Selection) -> tuple[ipywidgets.Widget, ...]:
    """Return the widgets of panels, in order."""
    return tuple(build(panel, selection) for panel in panels)
