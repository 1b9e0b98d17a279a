"""The lines view: which line takes most, then the cell with bars, layers, the ops of each line."""

import pandas as pd

from builders import XSpace, forest
from graph_sections import Function, Node, graphs_section
from tfprof_nb.analysis.python import Python
from tfprof_nb.analysis.source.source import source
from tfprof_nb.decode.sections.cell import read_cell
from tfprof_nb.decode.sections.graphs import read_graphs
from tfprof_nb.render.panels import Link, Note, Table, Tabs
from tfprof_nb.render.static_form import static_view
from tfprof_nb.render.text import text_view
from tfprof_nb.views import source as view

CELL = "%%tfprofile\ndef f(x):\n    return x @ x  # <b>\nf(y)\n"


def result(cell=CELL, layer=("big", "Dense"), phase="forward"):
    """A function whose one op, of line 3, takes 40 us, called in line 4, which takes 2 ms."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("EagerLocalExecute: f_1", duration_us=90)
    python.event("MatMul:MatMul", start_us=1, duration_us=40)
    frames = (("cell.py", 3, "return x @ x"), ("cell.py", 4, "f(y)"), ("other.py", 7, "run()"))
    node = Node("MatMul", "MatMul", frames, layer=layer, phase=phase if layer or phase != "forward" else "")
    sections = {"graphs": graphs_section(Function("f_1", [node]))}
    if cell:
        ran = {"line": [2, 4], "hits": [1, 1], "spent_ns": [0, 2_000_000], "estimated": [], "first": 0, "last": 0}
        sections["cell"] = {"text": cell, "file": "cell.py", **ran}
    return lines(space, sections)


def lines(space, sections):
    return source([forest(space)], [read_graphs(sections.get("graphs"))], [read_cell(sections.get("cell", {}))], [{}])


def sampled(*lines_of_functions):
    """Samples of Python on the main thread: ``function file line self_ms``."""
    rows = pd.DataFrame(lines_of_functions, columns=["function", "file", "line", "self_ms"])
    table = rows.assign(thread="main", library="", total_ms=rows["self_ms"])
    return Python(table, {}, callbacks=pd.DataFrame(), calls=pd.DataFrame(), nested=pd.DataFrame())


def panels(found, *lines_of_functions):
    return view.panels(found, sampled(*lines_of_functions))


def tables(found):
    return {panel.title: panel for panel in panels(found) if isinstance(panel, Table)}


def test_a_line_of_an_earlier_cell_that_built_the_graph_does_not_lead():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("EagerLocalExecute: f_1", duration_us=90)
    python.event("MatMul:MatMul", start_us=1, duration_us=40)
    node = Node("MatMul", "MatMul", (("earlier.py", 1, "f(y)"),))
    ran = {"line": [2, 4], "hits": [1, 1], "spent_ns": [0, 50_000], "estimated": [], "first": 0, "last": 0}
    sections = {"graphs": graphs_section(Function("f_1", [node])), "cell": {"text": CELL, "file": "cell.py", **ran}}
    found = lines(space, sections)
    assert found.summary["heaviest_line"]["file"] == "earlier.py"
    answers = [panel.text for panel in panels(found) if isinstance(panel, Note)]
    assert answers[0].startswith("Line 4, `f(y)`, took longest")
    assert not any("earlier.py" in text for text in answers)


def test_the_answer_names_the_line_that_took_longest_and_the_one_with_the_ops():
    slowest, heaviest, *_ = panels(result())
    assert slowest == Note(
        "Line 4, `f(y)`, took longest: 2.00 ms, 100% of the time of all lines.",
        "answer",
        [Link("Show in the trace", "Trace", "cell line 4")],
    )
    assert heaviest == Note(
        "Line 3, `return x @ x  # <b>`, has the most op time: 40.0 µs, 100% of the op time of all lines.",
        "info",
        [Link("Show in the trace", "Trace", "MatMul")],
    )


def test_a_line_that_only_calls_names_the_slowest_line_of_its_functions():
    inner = (("load", "In[2]", 5, 1.5), ("<module>", "cell", 4, 0.2))
    slowest, *_ = panels(result(), *inner)
    assert slowest.text == (
        "Line 4, `f(y)`, took longest: 2.00 ms, 100% of the time of all lines. In the functions that it calls, `load` "
        "(In[2] line 5) took longest: 1.50 ms, 75.0% of it (sampled)."
    )
    (table,) = (panel for panel in panels(result(), *inner) if getattr(panel, "title", "").endswith("sampled"))
    assert table.frame["function"].tolist() == ["load"]


def test_where_one_line_is_the_whole_cell_the_line_with_the_ops_comes_first():
    """Of the 2 ms of line 4 the op of line 3 takes 1.8."""
    space = XSpace()
    space.plane("/host:CPU").line("python").event("MatMul:MatMul", start_us=1, duration_us=1800)
    frames = (("cell.py", 3, "return x @ x"), ("cell.py", 4, "f(y)"))
    ran = {"line": [2, 4], "hits": [1, 1], "spent_ns": [0, 2_000_000], "estimated": [], "first": 0, "last": 0}
    sections = {
        "graphs": graphs_section(Function("f_1", [Node("MatMul", "MatMul", frames)])),
        "cell": {"text": CELL, "file": "cell.py", **ran},
    }
    first, second, *_ = panels(lines(space, sections))
    assert first.text.startswith("Line 3, `return x @ x  # <b>`, has the most op time: 1.80 ms")
    assert second.text.startswith("Line 4, `f(y)`, took longest: 2.00 ms")
    assert (first.kind, second.kind) == ("answer", "info")


def test_the_cell_is_shown_whole_and_indented_with_bars():
    table = tables(result())["The cell, line by line"]
    assert table.frame["code"].tolist() == ["%%tfprofile", "def f(x):", "\xa0\xa0\xa0\xa0return x @ x  # <b>", "f(y)"]
    assert [column.key for column in table.columns if column.bar] == ["self_ms", "op_ms"]
    assert [column.key for column in table.columns][:2] == ["line", "code"]


def test_a_picked_line_selects_its_events_in_the_trace():
    table = tables(result())["The cell, line by line"]
    assert table.selects == "event"
    assert table.frame["event"].tolist()[2:] == ["MatMul", "cell line 4"]


def test_the_ops_of_a_line_can_be_chosen():
    menu = next(panel for panel in panels(result()) if isinstance(panel, Tabs))
    assert [tab.name for tab in menu.tabs] == ["3: return x @ x  # <b>"]
    (table,) = menu.tabs[0].open()
    assert table.frame["op_name"].tolist() == ["MatMul"]


def test_lines_elsewhere_have_their_table():
    found = tables(result())
    assert found["Lines of other cells and files"].frame[["file", "line"]].values.tolist() == [["other.py", 7]]
    assert "Keras layers" not in found  # the page Layers has them, counted once


def test_without_a_cell_the_ops_lines_stand_alone_and_a_note_says_how_to_get_the_rest():
    shown = panels(result(cell=""))
    assert "Lines of code" in tables(result(cell=""))
    assert shown[0].text.startswith("Line 3 of cell.py, `return x @ x`, has the most op time")
    assert shown[0].kind == "answer"
    assert "%%tfprofile" in shown[-1].text


def test_an_empty_result_says_why():
    space = XSpace()
    space.plane("/host:CPU")
    (note,) = panels(lines(space, {}))
    assert (note.kind, "has no lines of code" in note.text) == ("empty", True)


def test_code_keeps_its_indent_and_is_escaped():
    assert "<code>\xa0\xa0\xa0\xa0return x @ x  # &lt;b&gt;</code>" in static_view("lines", panels(result()))
    assert "\xa0\xa0\xa0\xa0return x @ x # <b>" in text_view("lines", panels(result()))
