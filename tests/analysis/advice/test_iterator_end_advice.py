"""Waits for the end of old iterators: told where the autotuner sleeps, not where the pipeline still works."""

from types import SimpleNamespace

import pytest

import tfprof_nb as tp
from builders import XSpace
from tfprof_nb.analysis.advice.rules.input.old_iterators_end import fix_of
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.decode.sections.names import NameObject, Names

FINDING = "The program waits for old iterators of tf.data to end"


def two_epochs(removal_ms, other_thread_ms=0.0, tracing_ms=0.0):
    """Ten steps of 100 ms, the first after one that traces, and after each five of them the end of an iterator."""
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
        if i in (4, 9):
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
    assert row["fix"].startswith("Start fewer passes")
    assert "autotun" not in row["fix"]  # the program's text is not known


def test_the_share_is_of_the_whole_cell_with_the_steps_that_trace(found):
    (row,) = found(two_epochs(500, tracing_ms=2000))
    assert row["finding"] == f"{FINDING}: 25.0% of the cell's time"


@pytest.mark.parametrize("space", [two_epochs(500, other_thread_ms=400), two_epochs(150), two_epochs(0.01)])
def test_a_pipeline_that_still_works_and_short_ends_are_not(found, space):
    assert not found(space)


def names(**kinds):
    return Names("", {("", name): NameObject(kind, kind) for name, kind in kinds.items()})


ARRAYS = names(net="model", x="array", y="array")


@pytest.mark.parametrize(
    ("text", "known", "said", "unsaid"),
    [
        ("data = files.map(f, tf.data.AUTOTUNE)", None, "Leave the autotuner on", "enabled = False"),
        ("data = files.batch(8).prefetch(tf.data.AUTOTUNE)", None, "end the pipeline with `.with_options", "AUTOTUNE"),
        ("data = tf.data.Dataset.range(9)", None, "end the pipeline with `.with_options", "AUTOTUNE"),
        ("net.fit(x, y)", ARRAYS, "from_tensor_slices((x, y)).shuffle(len(x)).batch(32)", "AUTOTUNE"),
        ("net.fit(x, batch_size=256)", ARRAYS, "from_tensor_slices(x).shuffle(len(x)).batch(256)", "x, y"),
        ("net.fit(x, y, validation_split=0.1)", ARRAYS, "give fit a dataset of the arrays", "from_tensor_slices"),
        ("net.fit(x, y)", None, "give fit a dataset of the arrays", "from_tensor_slices"),  # arrays, as there is a y
        ("net.fit(x, y)\nnet.fit(y, x)", ARRAYS, "give fit a dataset of the arrays", "from_tensor_slices"),
        ("net.fit(x, steps_per_epoch=9)", names(net="model", x="generator"), "end the pipeline", "arrays"),
        ("fit(train, test, steps=9)", names(fit="function", train="dataset"), "end the pipeline", "arrays"),
        ("net.fit(x, y)", names(net="estimator", x="list"), "end the pipeline", "arrays"),
    ],
)
def test_the_fix_is_that_of_the_program(text, known, said, unsaid):
    fix = fix_of(SimpleNamespace(code=Code({"cell": text}, known)))
    assert said in fix
    assert unsaid not in fix


def test_arrays_that_a_cell_is_given_are_no_pipeline_of_another_cell():
    texts = {
        "cell": "net.fit(x, y)",
        "In[2]": "data = tf.data.Dataset.range(9).map(f, tf.data.AUTOTUNE)\nnet.fit(data)",
    }
    fix = fix_of(SimpleNamespace(code=Code(texts)))
    assert "a dataset of the arrays" in fix
    assert "AUTOTUNE" not in fix
    given = fix_of(SimpleNamespace(code=Code(texts | {"cell": "net.fit(data, epochs=3)"})))
    assert "Leave the autotuner on" in given
