"""A view: lazy, linked, and shown as two outputs in a notebook and as text in a terminal."""

import sys
import types
from html.parser import HTMLParser

import pandas as pd
import pytest
import traitlets
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from ipywidgets import HTML, HBox, VBox

from render import samples
from tfprof_nb.render import View, charts, display, html_report
from tfprof_nb.render.browser_widgets import TableWidget, TabsWidget, TraceWidget
from tfprof_nb.render.content import Content
from tfprof_nb.render.panels import Column, Note, Tab, Table, Tabs, Timeline

STEP_7 = (1_000_000_000_000, 2_000_000_000_000)


def inside(widget, kind):
    """All widgets of a kind inside another."""
    found = [widget] if isinstance(widget, kind) else []
    return found + [one for child in getattr(widget, "children", ()) for one in inside(child, kind)]


def built(panels):
    view = View("baseline", panels)
    view._build()
    return view


def test_widgets_are_made_when_the_view_is_shown():
    view = View("baseline", samples.dashboard())
    assert view.children == ()
    view._view_count = 1  # what the front end sets when it draws a view inside another widget
    assert inside(view, charts.Chart)


def test_panels_become_widgets_in_order():
    view = built(samples.dashboard())
    _head, answer, advice, split, _tabs = view.children
    assert "HIGHLY input-bound" in answer.value
    assert "Prefetch." in advice.value
    assert "width:75.00%" in split.value


def test_tabs_are_filled_when_they_are_opened():
    made = []
    tabs = [Tab(name, lambda name=name: made.append(name) or [Note(name)]) for name in ("one", "two", "three")]
    view = built([Tabs(tabs)])
    strip = inside(view, TabsWidget)[0]
    assert made == ["one"]
    strip.selected = 2
    strip.selected = 0
    strip.selected = 2
    assert made == ["one", "three"]
    panes = [box for box in inside(view, VBox) if strip.pane_class(1) in box._dom_classes]
    assert "Loading" in panes[0].children[0].value


def test_a_link_shows_an_op_at_a_time_and_can_be_followed_again():
    view = View("baseline", [Tabs([Tab("Ops", list), Tab("Trace", lambda: [Timeline("Trace", samples.Events())])])])
    view._build()
    tabs, _, pane = view.children[1].children
    follow = {"opened": {"page": "Trace", "op": "train_step", "range": [5, 9]}, "selected": 1}
    for _ in range(2):
        tabs.set_state(follow)
        assert (view.selected_op, view.time_range, tabs.opened) == ("train_step", (5, 9), None)
        view.selected_op = view.time_range = None
    tabs.set_state(follow)
    trace = pane.children[0].children[1]
    assert (trace.selected_name, list(trace.time_range), trace.selected_event) == ("train_step", [5, 9], 41)


def test_a_chart_without_data_says_so():
    empty = samples.StackedBars("Steps", samples.np.array([]), [], "step", "ms")
    assert "Nothing to draw" in inside(built([empty]), HTML)[0].value


def test_a_clicked_step_moves_the_trace_and_every_chart():
    view = built([samples.steps(40), samples.steps(40), Timeline("Trace", samples.Events())])
    first, second = inside(view, charts.Chart)
    first.picked = 7.0
    assert view.selected_step == 7
    assert second.picked == 7.0
    assert view.time_range == STEP_7
    assert inside(view, TraceWidget)[0].time_range == list(STEP_7)


def test_a_page_opened_later_shows_what_is_selected():
    view = built([samples.steps(40), Tabs([Tab("a", list), Tab("Trace", lambda: [Timeline("", samples.Events())])])])
    view.selected_step = 7
    inside(view, TabsWidget)[0].selected = 1
    assert inside(view, TraceWidget)[0].time_range == list(STEP_7)


def test_moving_the_trace_is_not_answered():
    view = built([Timeline("Trace", samples.Events())])
    trace = inside(view, TraceWidget)[0]
    trace.time_range = [1.6, 9.4]
    assert view.time_range == (1, 9)
    assert trace.time_range == [1.6, 9.4]


def test_a_picked_row_selects_its_op_everywhere():
    view = built([samples.ops(5), samples.ops(9), Timeline("Trace", samples.Events())])
    first, second = inside(view, TableWidget)
    first.selected_row = 3
    name = samples.ops(5).frame.op_name[3]
    assert view.selected_op == name
    assert second.selected_row == 3
    assert inside(view, TraceWidget)[0].selected_name == name
    view.selected_op = None
    assert first.selected_row is None


def test_an_event_picked_in_the_trace_selects_the_row_of_its_op():
    frame = pd.DataFrame({"op_name": ["Relu", "model/dense/MatMul"]})
    view = built(
        [Table("Ops", frame, [Column("op_name", "op")], selects="op_name"), Timeline("Trace", samples.Events())]
    )
    inside(view, TraceWidget)[0].selected_name = "model/dense/MatMul:MatMul"
    assert inside(view, TableWidget)[0].selected_row == 1


def test_a_row_that_has_no_event_selects_nothing():
    lines = pd.DataFrame({"line": [1, 2], "event": ["cell line 1", None]})
    view = built([Table("Lines", lines, [Column("line", "line", "count")], selects="event")])
    inside(view, TableWidget)[0].selected_row = 0
    assert view.selected_op == "cell line 1"
    inside(view, TableWidget)[0].selected_row = 1
    assert view.selected_op is None


def test_an_op_is_found_in_the_trace_by_name_and_type():
    view = built([Timeline("Trace", samples.Events())])
    trace = inside(view, TraceWidget)[0]
    view.selected_op = "model/dense/MatMul"
    assert trace.selected_name == "model/dense/MatMul:MatMul"
    assert view.selected_op == "model/dense/MatMul"
    view.selected_op = "train_step"
    assert trace.selected_name == "train_step"


def test_views_are_composed_and_linked_as_any_widgets():
    charts_alone, ops_and_trace = (
        View("", [samples.steps(40)]),
        View("", [samples.ops(5), Timeline("Trace", samples.Events())]),
    )
    seen = []
    charts_alone.observe(lambda change: seen.append(change["new"]), "selected_step")
    box = HBox([charts_alone, ops_and_trace, HTML("mine")])
    for trait in ("selected_step", "selected_op", "time_range"):
        traitlets.link((charts_alone, trait), (ops_and_trace, trait))
    for view in (charts_alone, ops_and_trace):
        view._view_count = 1
    inside(box, charts.Chart)[0].picked = 7.0
    assert seen == [7]
    assert inside(box, TraceWidget)[0].time_range == list(STEP_7)
    charts_alone.selected_op = "train_step"
    assert inside(box, TraceWidget)[0].selected_name == "train_step"
    inside(box, TraceWidget)[0].time_range = [3.0, 4.0]
    assert charts_alone.time_range == (3, 4)


def test_a_range_that_ends_before_it_starts_is_refused():
    with pytest.raises(Exception, match="before its start"):
        View("", []).time_range = (2, 1)


def test_text_and_static_forms_need_no_widgets():
    view = View("baseline", samples.dashboard())
    assert str(view).startswith("baseline\n")
    assert "HIGHLY input-bound" in view.to_html()
    assert view.children == ()


def test_a_terminal_prints_the_text_form():
    shell = InteractiveShell.instance()
    with capture_output() as captured:
        shell.display_formatter.format(View("baseline", [Note("said")]))
    assert captured.outputs == []
    assert captured.stdout == "baseline\n────────\nsaid\n\n"


@pytest.fixture(scope="module")
def executed(root):
    """A notebook of cells that show a view, run by a real kernel."""
    start = f"import sys; sys.path[:0] = [{str(root)!r}, {str(root / 'tests')!r}]\n"
    sources = [
        start
        + "from render import samples; from tfprof_nb.render import View; view = View('baseline', samples.dashboard())",
        "view",
        "view",
        "View('baseline', samples.dashboard(), static=True)",
        "from ipywidgets import HBox; HBox([View('inner', samples.dashboard())])",
    ]
    import nbclient
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", store_widget_state=False).execute()
    return notebook


@pytest.fixture(scope="module")
def outputs(executed):
    """What the cells left in the notebook."""
    return [cell.outputs for cell in executed.cells]


@pytest.mark.kernel
def test_static_form_first_then_the_widget(outputs):
    static, widget = outputs[1]
    assert set(static.data) == {"text/html", "text/plain"}
    assert set(widget.data) == {display.WIDGET_TYPE, "text/plain"}
    assert widget.data["text/plain"] == ""
    assert "HIGHLY input-bound" in static.data["text/plain"]
    assert "HIGHLY input-bound" in static.data["text/html"]


@pytest.mark.kernel
def test_the_static_form_hides_a_widget_that_cannot_be_drawn(outputs):
    html = outputs[1][0].data["text/html"]
    assert html.startswith('<div id="tfp-static-')
    name = html.split('"')[1]
    assert f".jp-OutputArea-child:has(#{name}) + .jp-OutputArea-child" in html
    assert "<script" not in html


@pytest.mark.kernel
def test_every_showing_has_an_id_of_its_own(outputs):
    first, second = (cell[0].data["text/html"].split('"')[1] for cell in outputs[1:3])
    assert first != second


@pytest.mark.kernel
def test_static_views_have_one_output(outputs):
    assert len(outputs[3]) == 1
    assert "text/html" in outputs[3][0].data


@pytest.mark.kernel
def test_a_converted_notebook_shows_each_static_form_once(executed):
    import nbconvert
    import nbformat

    shown = nbformat.v4.new_notebook(cells=executed.cells[1:2], metadata=executed.metadata)
    page, _ = nbconvert.HTMLExporter().from_notebook_node(shown)
    assert page.count("HIGHLY input-bound") == 1
    assert page.count('src="data:image/svg+xml') == shown.cells[0].outputs[0].data["text/html"].count("<img ")
    assert "View &#39;baseline" not in page


@pytest.mark.kernel
def test_outputs_are_small(outputs):
    assert all(len(output.data.get("text/html", "").encode()) < 65 * 1024 for cell in outputs for output in cell)


@pytest.mark.kernel
def test_a_view_inside_another_widget_is_that_widgets_output(outputs):
    assert [display.WIDGET_TYPE in output.data for output in outputs[4]] == [True]


def test_colab_gets_its_widget_manager(monkeypatch):
    colab = types.ModuleType("google.colab.output")
    enabled = []
    colab.enable_custom_widget_manager = lambda: enabled.append(True)
    colab._widgets = types.SimpleNamespace(_installed_url="https://colab.example/manager.js")
    monkeypatch.setitem(sys.modules, "google.colab.output", colab)
    metadata = display.colab_metadata()
    assert enabled
    assert metadata[display.WIDGET_TYPE]["colab"]["custom_widget_manager"]["url"].endswith("manager.js")


def test_outside_colab_there_is_nothing_to_turn_on():
    assert display.colab_metadata() == {}


def test_views_can_stand_side_by_side():
    left, right = View("left", [Note("a")]), View("right", [Note("b")])
    assert HBox([left, right]).children == (left, right)


class Frame(HTMLParser):
    """The page in the one frame that some HTML consists of."""

    page = None

    def handle_starttag(self, tag, attributes):
        assert (tag, self.page) == ("iframe", None)
        self.page = dict(attributes)["srcdoc"]


@pytest.mark.parametrize("show", [Content, View])
def test_front_ends_without_jupyters_widgets_get_the_report_in_a_frame(show):
    """Such as marimo, which shows what `_repr_html_` returns."""
    frame, panels = Frame(), [Note('"a" < b'), *samples.dashboard()]
    frame.feed(show("baseline", panels)._repr_html_())
    assert frame.page == html_report("baseline", panels)
