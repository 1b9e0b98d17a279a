"""Where the cell's time goes: exact arithmetic on drawn threads."""

import json

import pandas as pd
import pytest

from builders import XSpace, forest
from graph_sections import Function, Node, graphs_section
from tfprof_nb.analysis.breakdown.breakdown import breakdown, largest
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps
from tfprof_nb.decode.sections.cell import read_cell
from tfprof_nb.decode.sections.graphs import read_graphs
from tfprof_nb.decode.sections.python import read_python
from tfprof_nb.formats.marks import OPS_END

BEGAN_NS = 10**18
MS = 1_000_000
CELL, KERAS = "<cell>", "/lib/site-packages/keras/src"
FUNCTION = "__inference_train_step_7"


class Drawing:
    """A capture of 100 ms, of which the cell takes the time from 10 to 90 ms."""

    def __init__(self):
        self.space = XSpace()
        self.space.plane("Task Environment", profile_start_time=BEGAN_NS, profile_stop_time=BEGAN_NS + 100 * MS)
        self.cpu = self.space.plane("/host:CPU")
        self.main = self.cpu.line("python", line_id=1)
        self.samples, self.graphs, self.ended_ms = [], None, 90

    def on_main(self, name, start_ms, end_ms, **stats):
        self.main.event(name, start_us=1000 * start_ms, duration_us=1000 * (end_ms - start_ms), **stats)

    def on_thread(self, thread, name, start_ms, end_ms, **stats):
        self.cpu.line(f"executor {thread}", line_id=thread).event(
            name, start_us=1000 * start_ms, duration_us=1000 * (end_ms - start_ms), **stats
        )

    def sampled(self, stack, start_ms, end_ms):
        """Samples in the middle of each millisecond."""
        self.samples += [(at + 0.5, stack) for at in range(start_ms, end_ms)]

    def result(self, *, cell=True):
        stacks = {"line 3": [0], "line 4": [1], "fit": [2, 0], "load_model": [3, 1]}
        python = {
            "interval_ns": MS,
            "strings": ["<module>", "Model.fit", "load_model", CELL, f"{KERAS}/trainer.py", f"{KERAS}/saving_api.py"],
            "functions": {"name": [0, 1, 2], "file": [3, 4, 5], "users": [True, False, False]},
            "places": {"function": [0, 0, 1, 2], "line": [3, 4, 50, 60]},
            "stacks": list(stacks.values()),
            "samples": {
                "time_ns": [BEGAN_NS + round(at * MS) for at, _ in sorted(self.samples)],
                "thread": [0] * len(self.samples),
                "stack": [list(stacks).index(stack) for _, stack in sorted(self.samples)],
            },
        }
        text = {"text": "", "file": CELL, "line": [3, 4], "hits": [1, 5], "spent_ns": [0, 0], "estimated": []}
        times = {"first": 0, "last": 0, "began_ns": BEGAN_NS + 10 * MS, "ended_ns": BEGAN_NS + self.ended_ms * MS}
        one = forest(self.space)
        groupings = [group_events(one)]
        return breakdown(
            one,
            steps([one], groupings),
            read_graphs(self.graphs),
            read_cell({**text, **times} if cell else None),
            read_python(python),
            {CELL: "cell"},
            Code({}),
        )


def times(result):
    return {row["id"]: round(row["total_ms"], 6) for row in result.table.to_dict("records")}


def test_the_root_is_the_cell_from_its_first_to_its_last_instant():
    drawing = Drawing()
    drawing.sampled("line 3", 0, 40)
    drawing.sampled("line 4", 40, 100)
    result = drawing.result()
    assert times(result) == {"cell": 80, "cell/python:cell:3": 30, "cell/python:cell:4": 50}
    assert result.table.set_index("id").loc["cell/python:cell:4", "count"] == 5
    assert result.summary["cell_ms"] == pytest.approx(80)


def test_without_a_cell_it_lasts_until_the_last_event_and_sample():
    """Until 100 ms the profiler gathers what threads recorded."""
    drawing = Drawing()
    drawing.sampled("line 3", 0, 60)
    drawing.on_main("keras call predict", 40, 70)
    assert times(drawing.result(cell=False))["cell"] == 70
    drawing.sampled("line 3", 60, 80)
    assert times(drawing.result(cell=False))["cell"] == pytest.approx(80.5)


def test_what_no_sample_and_no_event_tells_is_unexplained():
    drawing = Drawing()
    drawing.sampled("line 3", 10, 30)
    drawing.on_main("cell line 3", 10, 90)
    result = drawing.result()
    # Up to three intervals after the last sample are its own.
    assert times(result)["cell/unexplained"] == pytest.approx(60 - 2.5)
    assert result.summary["unexplained_share"] == pytest.approx(57.5 / 80)


def fit():
    """A fit from 20 to 80 ms: two steps of 10 ms, a callback in each, a validation of one step, Keras in between."""
    drawing = Drawing()
    drawing.sampled("line 3", 10, 20)
    drawing.on_main("keras call fit", 20, 80)
    drawing.sampled("fit", 20, 80)
    for number, at in enumerate((30, 40)):
        drawing.on_main("train", at, at + 10, step_num=number, _r=1)
        drawing.on_main("callback Slow.on_train_batch_end", at + 8, at + 10)
    drawing.on_main("keras call evaluate", 60, 78)
    drawing.on_main("test", 65, 75, step_num=0, _r=1)
    drawing.sampled("line 4", 80, 90)
    return drawing


def test_phases_have_steps_and_what_lies_between_them():
    table = fit().result().table.set_index("id")
    assert table.loc["cell/train", ["total_ms", "count", "place"]].tolist() == [42, 1, "cell line 3"]
    assert table.loc["cell/train/step", ["total_ms", "count"]].tolist() == [20, 2]
    assert table.loc["cell/train/keras:cell:3", "total_ms"] == pytest.approx(22)
    assert table.loc["cell/validation", ["total_ms", "place"]].tolist() == [18, "cell line 3"]
    assert table.loc["cell/validation/step", ["total_ms", "count"]].tolist() == [10, 1]
    callback = table.loc["cell/train/step/callback:Slow.on_train_batch_end"]
    assert callback[["total_ms", "count", "kind"]].tolist() == [4, 2, "callback"]


def test_what_a_callback_does_in_steps_of_its_own_is_the_callbacks():
    drawing = fit()
    drawing.on_main("callback Looks.on_epoch_end", 50, 60)
    drawing.on_main("train", 52, 58, step_num=2, _r=1)
    table = drawing.result().table.set_index("id")
    assert table.loc["cell/train/callback:Looks.on_epoch_end", ["total_ms", "count"]].tolist() == [10, 1]
    assert table.loc["cell/train/step", ["total_ms", "count"]].tolist() == [20, 2]


def test_steps_whose_ops_were_not_recorded_are_made_of_the_same_parts():
    drawing = Drawing()
    drawing.on_main("keras call fit", 20, 80)
    drawing.sampled("line 3", 10, 20)
    drawing.sampled("fit", 20, 80)
    drawing.sampled("line 4", 80, 90)
    for number, at in enumerate((30, 40, 50)):
        drawing.on_main("train", at, at + 8, step_num=number, _r=1)
        drawing.on_main("EagerLocalExecute: MatMul", at, at + 6) if number == 0 else None
        drawing.on_main("callback Slow.on_train_batch_end", at + 7, at + 8)
    drawing.on_main(OPS_END, 39, 39.001)
    table = drawing.result().table.set_index("id")
    assert table.loc["cell", "total_ms"] == pytest.approx(80)
    assert table.loc["cell/train/step", ["total_ms", "count"]].tolist() == pytest.approx([24, 3])
    # Of 7 ms beside the callback, the first step has 6 ms in its op; so have the other two.
    assert table.loc["cell/train/step/eager/op:MatMul", "total_ms"] == pytest.approx(18)
    assert table.loc["cell/train/step/callback:Slow.on_train_batch_end", "total_ms"] == pytest.approx(3)


def test_what_stands_beside_the_training_is_named_by_itself():
    drawing = Drawing()
    drawing.on_main("keras call fit", 10, 90)
    drawing.on_main("keras call evaluate", 20, 85)
    drawing.sampled("fit", 10, 90)
    assert drawing.result().summary["largest"] == "cell/validation"


@pytest.mark.parametrize(("phase", "named"), [("test", "cell/test/line"), ("validation", "cell/validation")])
def test_a_loop_of_the_program_is_not_specific_but_what_keras_does_beside_the_training_is(phase, named):
    rows = [("cell", "", "cell", "phase", 100.0), ("cell/train", "cell", "train", "phase", 10.0)]
    rows += [
        (f"cell/{phase}", "cell", phase, "phase", 90.0),
        (f"cell/{phase}/line", f"cell/{phase}", "f", "keras", 60.0),
    ]
    table = pd.DataFrame(rows, columns=["id", "parent", "name", "kind", "total_ms"])
    assert largest(table, 1)["id"].tolist() == [named]


def called():
    """A function that the thread waits for from 20 to 60 ms, while two threads run ops of a layer and its gradient."""
    drawing = Drawing()
    drawing.sampled("line 3", 10, 90)
    drawing.on_main(f"EagerLocalExecute: {FUNCTION}", 20, 60)
    drawing.on_thread(2, "dense/MatMul:MatMul", 25, 45)
    drawing.on_thread(3, "gradients/MatMul:MatMul", 35, 55)
    nodes = [
        Node("dense/MatMul", "MatMul", layer=("dense", "Dense"), phase="forward"),
        Node("gradients/MatMul", "MatMul", forward=0, phase="backward"),
    ]
    drawing.graphs = json.loads(json.dumps(graphs_section(Function(FUNCTION, nodes))))
    return drawing


def test_a_wait_is_given_to_what_ran_meanwhile_in_equal_parts_of_each_moment():
    found = times(called().result())
    layer = "cell/function:train_step/layer:dense"
    assert found["cell/function:train_step"] == 40
    assert found[f"{layer}/forward"] == pytest.approx(10 + 10 / 2)
    assert found[f"{layer}/backward"] == pytest.approx(10 + 10 / 2)
    assert found["cell/function:train_step/between_ops"] == pytest.approx(5 + 5)


def test_loading_a_model_has_all_that_tensorflow_does_for_it():
    drawing = Drawing()
    drawing.sampled("line 3", 10, 30)
    drawing.sampled("load_model", 30, 70)
    drawing.sampled("line 3", 70, 90)
    drawing.on_main("EagerLocalExecute: VarHandleOp", 40, 60)
    result = drawing.result()
    assert times(result) == {"cell": 80, "cell/load_model:cell:4": 40, "cell/python:cell:3": 40}
    assert result.summary["largest"] == "cell/load_model:cell:4"


def test_ops_that_python_starts_one_by_one_and_python_between_them():
    drawing = Drawing()
    drawing.sampled("line 3", 10, 90)
    for at in range(20, 60, 4):
        drawing.on_main("TFE_Py_FastPathExecute_C", at, at + 3)
        drawing.on_main("EagerLocalExecute: MatMul", at + 1, at + 3)
    table = drawing.result().table.set_index("id")
    assert table.loc["cell/eager/op:MatMul", ["total_ms", "count", "place"]].tolist() == [20, 10, "cell line 3"]
    assert table.loc["cell/eager/calls", "total_ms"] == pytest.approx(10)
    assert table.loc["cell/python:cell:3", "total_ms"] == pytest.approx(50)


def test_tracing_ends_where_the_function_begins_to_run():
    drawing = Drawing()
    drawing.sampled("line 3", 10, 90)
    drawing.on_main("train_step", 20, 70, tf_function_call="traced-nonXla")
    drawing.on_main(f"EagerLocalExecute: {FUNCTION}", 40, 70)
    drawing.on_main("FunctionRun", 60, 70, id=3)
    found = times(drawing.result())
    assert found["cell/trace:train_step"] == 40
    assert found["cell/function:train_step"] == 10


def test_devices_have_the_time_in_which_they_are_busy():
    drawing = Drawing()
    drawing.sampled("line 3", 10, 90)
    stream = drawing.space.plane("/device:GPU:0").line("Stream #1")
    stream.event("kernel", start_us=30_000, duration_us=20_000, tf_op="dense/MatMul:MatMul", correlation_id=1)
    found = times(drawing.result())
    assert found == {"cell": 80, "cell/python:cell:3": 60, "cell/op:MatMul": 20}


def test_the_largest_parts_lie_in_no_other():
    chosen = fit().result().largest(9)["id"].tolist()
    assert len(chosen) == len(set(chosen))
    assert not any(other.startswith(f"{one}/") for one in chosen for other in chosen)


def test_a_recording_of_a_part_of_the_cell_says_so():
    drawing = Drawing()
    drawing.sampled("line 3", 10, 90)
    assert drawing.result().notes == []
    drawing.ended_ms = 400
    assert any("were recorded" in note for note in drawing.result().notes)


def test_reading_a_model_is_timed_by_its_event():
    drawing = Drawing()
    drawing.sampled("line 4", 10, 90)
    for at in (20, 50):
        drawing.on_main("model file load_model", at, at + 25)
        drawing.on_main("EagerLocalExecute: VarHandleOp", at + 5, at + 20)
    loading = drawing.result().table.set_index("id").loc["cell/load_model:cell:4"]
    assert loading[["total_ms", "count", "kind", "place"]].tolist() == [50, 2, "load", "cell line 4"]


def functions_and_python():
    """The main thread calls a function in each other millisecond, from line 4; Python is sampled once, at line 3."""
    drawing = Drawing()
    for at in range(10, 90, 2):
        drawing.on_main(f"EagerLocalExecute: {FUNCTION}", at, at + 1)
        drawing.sampled("line 4", at, at + 1)
    drawing.sampled("line 3", 11, 12)
    return drawing.result()


def test_one_sample_does_not_tell_of_much_python():
    """Python that keeps its lock is not sampled: the functions' samples tell which lines ran."""
    table = functions_and_python().table.set_index("id")
    python = table.loc[["cell/python:cell:4", "cell/python:cell:3"], "total_ms"]
    assert python.sum() == pytest.approx(40)
    assert python["cell/python:cell:4"] > 35


def test_the_time_between_ops_has_the_line_of_most_samples_in_which_none_runs():
    table = functions_and_python().table
    between = table[table["name"] == "TensorFlow between ops"]
    assert between["total_ms"].tolist() == pytest.approx([40])
    assert between["place"].tolist() == ["cell line 4"]


def test_the_line_with_the_most_time_is_that_of_what_it_calls_too():
    summary = functions_and_python().summary
    assert summary["line"] == "cell line 4"
    assert summary["line_share"] > 0.9
