"""Waits for the end of old iterators: told where the autotuner sleeps, not where the pipeline still works."""

import pytest

import tfprof_nb as tp
from builders import XSpace
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.untuned import untuned
from tfprof_nb.decode.sections.cell import NameObject, Names
from tfprof_nb.formats.marks import ITERATOR_END, OPS_END

FINDING = "The program waits for old iterators of tf.data to end"


def two_epochs(removal_ms, other_thread_ms=0.0, tracing_ms=0.0, ends=(4, 9), marked=""):
    """Ten steps of 100 ms, the first after one that traces, and after some of them the end of an iterator."""
    space = XSpace()
    plane = space.plane("/host:CPU")
    python, worker = plane.line("python"), plane.line("tf_data_iterator_resource")
    if at := tracing_ms:
        python.event("train", start_ms=0, duration_ms=at, step_num=10, _r=1)
        python.event("f", start_ms=0, duration_ms=at, tf_function_call="traced-nonXla")
    for i in range(10):
        python.event("train", start_ms=at, duration_ms=100, step_num=i, _r=1)
        python.event("mul:MatMul", start_ms=at, duration_ms=100)
        at += 100
        if i in ends:
            if marked:
                python.event(ITERATOR_END, start_ms=at, duration_ms=removal_ms)
            if marked != "alone":
                python.event("TFE_DeleteTensorHandle", start_ms=at, duration_ms=removal_ms)
            if other_thread_ms:
                worker.event("Iterator::Map", start_ms=at, duration_ms=other_thread_ms)
            at += removal_ms
    return space


@pytest.fixture
def found(tmp_path):
    def find(space):
        path = tmp_path / "vm.xplane.pb"
        path.write_bytes(space.to_bytes())
        table = tp.load(path).advice.table
        return table[table["finding"].str.startswith(FINDING)].to_dict("records")

    return find


def test_it_is_told_with_its_share_and_the_longest_wait(found):
    (row,) = found(two_epochs(500))
    assert row["finding"] == f"{FINDING}: 50.0% of the cell's time"
    assert row["evidence"].startswith("2 old iterators took 1.00 s in all to end")
    assert (row["severity"], row["start_ms"], row["duration_ms"]) == ("info", 500, 500)
    assert row["gain_low_percent"] == 0 < row["gain_high_percent"]  # the next run may wait less
    assert row["fix"].startswith("Turn the autotuner off")
    assert row["change"] == ""  # the program's text is not known


@pytest.mark.parametrize("marked", ["with TensorFlow's event", "alone"])
def test_marked_ends_count_once_whether_ops_are_recorded_or_not(found, marked):
    (row,) = found(two_epochs(500, marked=marked))
    assert row["finding"] == f"{FINDING}: 50.0% of the cell's time"
    assert row["evidence"].startswith("2 old iterators took 1.00 s in all to end")
    assert row["op_name"] == ITERATOR_END


def test_other_threads_are_known_to_rest_only_where_ops_are_recorded(found):
    (row,) = found(two_epochs(500))
    assert "while no other thread worked" in row["evidence"]
    space = two_epochs(500)
    marks = space.planes[0].line("marks")
    marks.event(OPS_END, start_ms=600, duration_ms=0)
    (row,) = found(space)
    assert "while no other thread worked" not in row["evidence"]
    assert "No ops were recorded meanwhile" in row["evidence"]


def test_the_share_is_of_the_whole_cell_with_the_steps_that_trace(found):
    (row,) = found(two_epochs(500, tracing_ms=2000))
    assert row["finding"] == f"{FINDING}: 25.0% of the cell's time"


def test_many_waits_are_no_chance(found):
    (row,) = found(two_epochs(100, ends=range(1, 10)))
    assert row["evidence"].startswith("9 old iterators took 900 ms in all to end")
    assert row["severity"] == "info"  # the program's text, and so its change, is not known
    assert 0 < row["gain_low_percent"] < row["estimated_gain_percent"]


@pytest.mark.parametrize("space", [two_epochs(500, other_thread_ms=400), two_epochs(8), two_epochs(0.01)])
def test_a_pipeline_that_still_works_and_short_ends_are_not(found, space):
    assert not found(space)


def names(**kinds):
    return Names("", {("", name): NameObject(kind, kind) for name, kind in kinds.items()})


ARRAYS = names(net="model", x="array", y="array")


OFF = "options = tf.data.Options()\noptions.autotune.enabled = False\n"
DATA = "data = tf.data.Dataset.range(9)\n"


@pytest.mark.parametrize(
    ("text", "known", "change"),
    [
        (f"{DATA}for x in data:\n    f(x)", None, "for x in data.with_options(options):"),
        (
            f"{DATA}for k, x in enumerate(data, 1):\n    f(x)",
            None,
            "for k, x in enumerate(data.with_options(options), 1):",
        ),
        (f"{DATA}for x in data: f(x)", None, "for x in data.with_options(options): f(x)"),
        (
            f"{DATA}net.fit(data, validation_data=data)",
            None,
            "net.fit(data.with_options(options), validation_data=data.with_options(options))",
        ),
        (
            "0\nnet.fit(x, y)",
            ARRAYS,
            (
                "untuned = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(32).with_options(options)\n"
                "net.fit(untuned)"
            ),
        ),
        ("0\nnet.fit(x, y, validation_split=0.1)", ARRAYS, ""),
        ("0\nnet.fit(x, y)", None, ""),
        ("0\nnet.fit(x, steps_per_epoch=9)", names(net="model", x="generator"), ""),
        ("options.autotune.enabled = True\nnet.fit(x, y)", ARRAYS, ""),
        ("0\nfor x in data:\n    f(x)", names(data="list"), ""),
    ],
)
def test_the_change_is_that_of_the_statement(text, known, change):
    assert untuned(Code({"cell": text}, known), "cell", 2) == (change and OFF + change)


def test_names_of_the_program_are_left_alone():
    text = f"{DATA}for x in data:\n    f(x, options)"
    assert "for x in data.with_options(data_options):" in untuned(Code({"cell": text}), "cell", 2)
