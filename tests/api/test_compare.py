"""Comparing real programs: a slow input pipeline and its fix, the magic, and what is no profile."""

import sys
import time
from functools import partial

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import tfprof_nb as tp
from tfprof_nb.pending_run import PendingRun

pytestmark = pytest.mark.tensorflow

STEPS, BATCH = 20, 16
READING_S = 0.1


def program(batch=BATCH, *, slow):
    """Return a function that trains once, on data that take long to read or not."""
    tf, keras = pytest.importorskip("tensorflow"), pytest.importorskip("keras")

    def read(x):
        time.sleep(READING_S)
        return x

    x = tf.random.normal((batch * STEPS, 8))
    data = tf.data.Dataset.from_tensor_slices((x, x)).batch(batch)
    if slow:
        data = data.map(lambda x, y: (tf.ensure_shape(tf.numpy_function(read, [x], tf.float32), (None, 8)), y))
    model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(8)])
    model.compile("sgd", "mse")
    model.fit(data.take(2), verbose=0)

    return partial(model.fit, data, verbose=0)


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """Profiles of the slow program and of the fixed ones, by name."""
    found = {}
    for name, options in {
        "slow": {"slow": True},
        "fixed": {"slow": False},
        "wide": {"slow": False, "batch": 32},
    }.items():
        train = program(**options)
        with tp.profile(name, logdir=tmp_path_factory.mktemp(name)) as p:
            train()
        found[name] = p
    return found


@pytest.fixture
def shell(monkeypatch, tmp_path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setattr(sys, "displayhook", sys.displayhook)
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    shell.run_line_magic("load_ext", "tfprof_nb")
    yield shell
    shell.run_line_magic("unload_ext", "tfprof_nb")
    InteractiveShell.clear_instance()


def test_the_medians_of_steps_are_those_of_each_profile(captured):
    steps = tp.compare(captured["slow"], captured["fixed"]).steps.set_index("metric")
    assert steps.loc["input_ms", "before"] > 1000 * READING_S / 2  # each batch is read for longer than that
    for side, name in (("before", "slow"), ("after", "fixed")):
        measured = captured[name].steps.measured
        assert steps.loc["step_ms", side] == pytest.approx(measured["step_ms"].median())


def test_a_model_that_was_built_anew_does_the_same_work(captured):
    compared = tp.compare(captured["slow"], captured["fixed"])
    assert compared.summary["why_not_same"] == []
    assert not any("judged without" in note for note in compared.notes)
    assert "PyFunc" in set(compared.only_before["name"])
    dense = compared.ops[compared.ops["op_name"].str.contains("dense")]
    assert len(dense)
    assert not dense["only_before"].any() | dense["only_after"].any()


def test_another_batch_size_is_the_change(captured):
    found = tp.compare(captured["fixed"], captured["wide"]).summary
    assert found["changes"] == ["batch size: 16 before, 32 after"]
    assert found["same_work"]
    assert found["speedup_of"] == "time per example"


def test_paths_are_loaded(captured):
    slow, fixed = captured["slow"], captured["fixed"]
    by_path = tp.compare(slow.files[0].parent, [str(fixed.files[0])])
    assert by_path.summary["speedup"] == tp.compare(slow, fixed).summary["speedup"]


def test_it_shows_itself(captured):
    text = str(tp.compare(captured["slow"], captured["fixed"]))
    assert text.splitlines()[0] == "before: slow · after: fixed"
    assert "one example took " in text.splitlines()[2]


def test_the_magic_takes_variables_and_paths(shell, captured):
    slow, fixed = captured["slow"], captured["fixed"]
    shell.push({"baseline": slow})
    with capture_output() as output:
        result = shell.run_cell(f"%tfprofile_compare baseline '{fixed.files[0]}'").result
    assert result.summary["speedup"] == tp.compare(slow, fixed).summary["speedup"]
    assert "one example took " in output.stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nowhere baseline", r"no variable, file or folder nowhere.*%%tfprofile NAME"),
        ("baseline number", r"argument after is of type int"),
        ("none baseline", r"The list of profiles before is empty"),
        ("baseline", r"required: AFTER"),
        ("baseline unfinished", r"use it after its block ended"),
        ("baseline empty", r"empty"),
    ],
)
def test_what_cannot_be_compared(shell, captured, tmp_path, monkeypatch, line, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    shell.push({"baseline": captured["slow"], "number": 3, "none": [], "unfinished": tp.Profile(PendingRun())})
    with pytest.raises(UsageError, match=message):
        shell.run_line_magic("tfprofile_compare", line)


@pytest.mark.parametrize("bad", [None, 3, [], [None]])
def test_no_profile(captured, bad):
    with pytest.raises(tp.TfprofError, match=r"give"):
        tp.compare(captured["slow"], bad)
