"""Time by line and by layer, on profiles written by hand."""

import math

import pytest

from builders import XSpace, forest
from graph_sections import Function, Node, graphs_section
from tfprof_nb.analysis.source.cell_lines import line_events
from tfprof_nb.analysis.source.source import source
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.decode.sections.cell import read_cell
from tfprof_nb.decode.sections.graphs import read_graphs
from tfprof_nb.formats.marks import OPS_END

CELL = "%%tfprofile\nfor x in data:\n    step(x)\n    y = tf.add(x, 1)\n"
FILE = "/tmp/ipykernel_1/2.py"
FIT = (FILE, 3, "step(x)")
MAGIC = ("/tmp/ipykernel_1/1.py", 1, "get_ipython().run_cell_magic('tfprofile', '', '...')")
LAYER = ("model.py", 9, "return x @ self.w")


def cell_section(**changed):
    """The cell above: its loop ran two times, 10 ms in all, of which line 3 took 6."""
    section = {
        "text": CELL,
        "file": FILE,
        "line": [2, 2, 3, 4],
        "hits": [1, 2, 2, 2],
        "spent_ns": [1_000_000, 2_000_000, 6_000_000, 1_000_000],
        "estimated": [],
        "first": 0,
        "last": 4,
    }
    return section | changed


def step_function(**of_matmul):
    """Two ops of a layer with the gradient of one, and one of the training itself."""
    return Function(
        "step_1",
        [
            Node("MatMul", "MatMul", (LAYER, FIT, MAGIC), layer=("dense", "Dense"), phase="forward", **of_matmul),
            Node("Relu", "Relu", (FIT, MAGIC), (0,), layer=("dense", "Dense"), phase="forward"),
            Node("gradient/MatMul", "MatMul", (FIT, MAGIC), forward=0, layer=("dense", "Dense"), phase="backward"),
            Node("Assign", "AssignSubVariableOp", (FIT, MAGIC), phase="optimizer"),
        ],
    )


def capture(*ops, eager=(), ran=((3, 0, 100), (4, 100, 50)), mapped=()):
    """Lines of the cell as (line, start, length), with ops of a function in line 3; all in microseconds."""
    space = XSpace()
    host = space.plane("/host:CPU")
    python, pipeline = host.line("python"), host.line("pipeline")
    for number, (name, length) in enumerate(mapped):
        pipeline.event("Iterator::Root::Map", start_us=20 * number, duration_us=20)
        pipeline.event(name, start_us=1 + 20 * number, duration_us=length)
    for line, start, length in ran:
        python.event(f"cell line {line}", start_us=start, duration_us=length)
    python.event("EagerLocalExecute: step_1", start_us=1, duration_us=90)
    for number, (name, length) in enumerate(ops):
        python.event(name, start_us=2 + 20 * number, duration_us=length)
    for start, length in eager:
        python.event("EagerExecute", start_us=start, duration_us=length, is_func=0)
        python.event("EagerLocalExecute: AddV2", start_us=start, duration_us=length)
    return forest(space)


OPS = (("MatMul:MatMul", 10), ("Relu:Relu", 3), ("gradient/MatMul:MatMul", 12), ("Assign:AssignSubVariableOp", 4))


def result(forest=None, **sections):
    sections = {"cell": cell_section(), "graphs": graphs_section(step_function())} | sections
    return lines([forest or capture(*OPS)], [sections])


def lines(forests, sections):
    graphs = [read_graphs(found.get("graphs")) for found in sections]
    cells = [read_cell(found.get("cell", {})) for found in sections]
    return source(forests, graphs, cells, [found.get("cells", {}) for found in sections])


def row(found, line, file="cell"):
    return found.table[(found.table["file"] == file) & (found.table["line"] == line)].iloc[0]


def test_graphs_that_an_earlier_run_of_the_cell_built_count_for_its_lines():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("EagerLocalExecute: f_1", duration_us=90)
    python.event("MatMul:MatMul", start_us=1, duration_us=40)
    earlier = "/tmp/ipykernel_1/1.py"
    node = Node("MatMul", "MatMul", ((earlier, 2, "step(x)"),))
    graphs = read_graphs(graphs_section(Function("f_1", [node])))

    def lines_with_ops(earlier_runs):
        cell = read_cell(cell_section())
        found = source([forest(space)], [graphs], [cell], [{earlier: "In[1]"}], earlier_runs=earlier_runs).table
        return found.loc[found["op_ms"] > 0, ["file", "line", "code"]].to_numpy().tolist()

    assert lines_with_ops({"In[1]": 1}) == [["cell", 3, "    step(x)"]]
    assert lines_with_ops({}) == [["In[1]", 2, "step(x)"]]


def test_the_cell_comes_first_in_order_then_other_files():
    found = result()
    assert found.table.columns[:5].tolist() == ["line", "code", "self_ms", "op_ms", "occurrences"]
    assert found.table["line"].tolist() == [1, 2, 3, 4, 9]
    assert found.table["file"].tolist() == ["cell"] * 4 + ["model.py"]
    assert found.table["code"].tolist() == [*CELL.splitlines(), "return x @ self.w"]


def test_times_of_lines_are_those_of_the_sidecar():
    found = result()
    assert found.table["self_ms"].tolist()[1:4] == [3.0, 6.0, 1.0]
    assert math.isnan(found.table["self_ms"][0])
    assert found.table["occurrences"].tolist()[1:4] == [3, 2, 2]
    assert found.summary["slowest_line"] == {
        "file": "cell",
        "line": 3,
        "code": "step(x)",
        "self_ms": 6.0,
        "op_ms": pytest.approx(0.007),
        "event": "cell line 3",
        "share": 0.6,
    }


def test_an_op_belongs_to_the_innermost_line_and_a_gradient_to_the_line_of_its_op():
    found = result()
    assert row(found, 3)["op_ms"] == pytest.approx(0.003 + 0.004)
    assert row(found, 9, "model.py")["op_ms"] == pytest.approx(0.010 + 0.012)
    assert row(found, 9, "model.py")["gradient_ms"] == pytest.approx(0.012)
    assert found.summary["heaviest_line"]["line"] == 9


def test_recorded_ops_stand_for_those_of_steps_without():
    """Ops of two of four steps were recorded; a line's time is that of all four."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for number in range(4):
        at = 1 + 1000 * number
        python.event("train", start_us=at, duration_us=900, step_num=number, _r=1)
        if number < 2:
            python.event("EagerLocalExecute: step_1", start_us=at + 1, duration_us=800)
            python.event("MatMul:MatMul", start_us=at + 10, duration_us=100)
    python.event(OPS_END, start_us=2000, duration_us=1)
    whole = forest(space)
    section = {"cell": cell_section(), "graphs": graphs_section(step_function())}
    graphs, cell = read_graphs(section["graphs"]), read_cell(section["cell"])
    found = source([whole], [graphs], [cell], [{}], [group_events(whole)])
    placed = row(found, 9, "model.py")
    assert placed["op_ms"] == pytest.approx(4 * 0.1)
    assert found.ops(9, "model.py")["occurrences"].tolist() == [4]


def test_a_line_has_the_ops_of_what_it_called_too():
    assert row(result(), 3)["called_op_ms"] == pytest.approx(0.010 + 0.003 + 0.012 + 0.004)


def test_an_eager_op_belongs_to_the_line_that_ran():
    found = result(capture(eager=[(110, 20), (131, 10)]))
    assert row(found, 4)["op_ms"] == pytest.approx(0.030)
    assert found.ops(4)[["op_name", "occurrences"]].values.tolist() == [["AddV2", 2]]


def test_a_line_that_ran_when_the_recording_ended_has_its_ops_without_an_event():
    found = result(capture(eager=[(110, 20)], ran=[(3, 0, 100)]))
    assert row(found, 4)["op_ms"] == pytest.approx(0.020)


def test_ops_of_a_line_with_too_many_runs_are_extrapolated():
    often = [(4, 10 * number, 10) for number in range(1000)]
    cell = cell_section(line=[4], hits=[4000], spent_ns=[40_000_000])
    found = result(capture(ran=often, eager=[(100, 5)]), cell=cell, graphs={})
    assert row(found, 4)["op_ms"] == pytest.approx(4 * 0.005)
    assert found.notes[0].startswith("Line 4 ran more than 1,000 times")


def test_layers_have_times_by_phase():
    found = result()
    ops = found.all_ops[found.all_ops["phase"] != ""]
    assert ops.groupby(["layer", "kind", "phase"])["op_ms"].sum().to_dict() == {
        ("dense", "Dense", "forward"): pytest.approx(0.013),
        ("dense", "Dense", "backward"): pytest.approx(0.012),
        ("", "", "optimizer"): pytest.approx(0.004),
    }


def test_a_fused_op_says_what_it_absorbed():
    found = result(capture(("Relu:_FusedMatMul", 13)))
    assert found.ops(3)["absorbed"].tolist() == ["MatMul (line 9)"]


def test_an_op_that_ran_itself_was_not_absorbed():
    found = result(capture(("MatMul:MatMul", 10), ("Relu:_FusedMatMul", 13)))
    assert found.ops(3)["absorbed"].tolist() == [""]


def test_cells_have_the_labels_of_the_notebook():
    found = result(cells={"model.py": "In[2]", FILE: "In[5]"})
    assert set(found.table["file"]) == {"cell", "In[2]"}
    assert found.ops(9, "In[2]")["op_name"].tolist() == ["gradient/MatMul", "MatMul"]


def test_a_function_and_an_op_have_a_line():
    mapped = Function("Dataset_map_f_7", [Node("x", "Mul", (LAYER, FIT, MAGIC))], called=False)
    found = result(graphs=graphs_section(step_function(), mapped))
    assert found.line_of("Dataset_map") == "model.py line 9"
    assert found.line_of("step_1") == "cell line 3"
    assert found.line_of("gradient/MatMul") == "model.py line 9"
    assert found.line_of("nothing") == ""


def test_of_several_functions_only_a_clearly_slowest_is_named():
    """What else the line of a function calls does not count: line 3 called the ops of the step, too."""
    other, place = Node("y", "Mul", ((FILE, 4, "y = tf.add(x, 1)"), MAGIC)), "Dataset_map_"
    maps = [
        Function("Dataset_map_f_7", [Node("x", "Mul", (FIT, MAGIC))], called=False),
        Function("Dataset_map_g_8", [other], called=False),
    ]
    section = graphs_section(step_function(), *maps)
    found = result(capture(*OPS, mapped=[("y:Mul", 9)]), graphs=section)
    assert (found.line_of(place), found.slowest_function(place)) == ("", "cell line 4")
    alike = result(capture(*OPS, mapped=[("x:Mul", 9), ("y:Mul", 10)]), graphs=section)
    assert alike.slowest_function(place) == alike.slowest_function("nothing") == ""


def test_a_function_takes_the_time_of_what_it_calls():
    outer = Node("call", "StatefulPartitionedCall", (FIT, MAGIC))
    functions = (
        Function("Dataset_map_f_7", [outer], calls=[(0, "call", 1)], called=False),
        Function("inner_8", [Node("x", "Mul", (FIT, MAGIC))], called=False),
    )
    found = result(capture(mapped=[("call/x:Mul", 9)]), graphs=graphs_section(*functions))
    assert found.functions["op_ms"].tolist() == pytest.approx([0.009, 0.009])


def test_without_a_cell_there_are_lines_of_ops():
    found = result(cell={})
    assert sorted(zip(found.table["file"], found.table["line"], strict=True)) == [(FILE, 3), ("model.py", 9)]
    assert "%%tfprofile on top of a cell records" in found.notes[0]
    assert found.ops(3)["op_name"].tolist() == ["Assign", "Relu"]


def test_without_a_sidecar_a_note_says_what_to_do():
    found = lines([capture(*OPS)], [{}])
    assert len(found.table) == 0
    assert found.summary["lines"] == 0
    assert found.summary["slowest_line"] is None
    assert "Capture with %%tfprofile" in found.notes[0]
    assert found.line_of("MatMul") == ""


def test_lines_that_share_a_time_by_estimate_are_named():
    assert any("Lines 2, 3 ran too often" in note for note in result(cell=cell_section(estimated=[2, 3])).notes)


def test_a_note_reports_ops_without_a_line():
    note = result(capture(*OPS, ("unknown:MatMul", 20))).notes[0]
    assert note.startswith("41% of op time belongs to no line")  # 20 of 49 us


def test_a_note_reports_functions_compiled_by_xla():
    space = XSpace()
    worker = space.plane("/host:CPU").line("worker")
    worker.event("fusion.1", duration_us=5, hlo_op="fusion.1")
    notes = result(forest(space)).notes
    assert any(note.startswith("XLA compiled some functions") for note in notes)


def test_hosts_add_up():
    sections = {"cell": cell_section(), "graphs": graphs_section(step_function())}
    found = lines([capture(*OPS), capture(*OPS)], [sections, {"graphs": sections["graphs"]}])
    assert row(found, 9, "model.py")["op_ms"] == pytest.approx(2 * 0.022)
    assert row(found, 3)["self_ms"] == 6.0


def test_only_events_named_exactly_as_lines_are_lines():
    names = ["cell line 3", "Cell line up", "cell line ", "Cell line 4", "cell line 5 or 6", "cell line ٣"]
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for at, name in enumerate(names):
        python.event(name, start_us=10 * at, duration_us=5)
    foreign = forest(space)
    rows, line = line_events(foreign)
    assert (rows.tolist(), line.tolist()) == ([0], [3])
