"""The watch in a real shell: training cells are kept, and a line says when one became slower."""

import builtins
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import tfprof_nb as tp
from tfprof_nb.formats.watched_cells import append_cell, read_cells

pytestmark = pytest.mark.tensorflow
TRAIN = "model.fit(x, x, batch_size={}, verbose=0);"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setattr(sys, "displayhook", sys.displayhook)
    monkeypatch.delattr(builtins, "_", raising=False)
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))

    def run_cell(text):
        with capture_output() as output:
            shell.run_cell(text, store_history=True).raise_error()
        return output.stdout

    run_cell("import keras, numpy as np, tfprof_nb as tp\nwatched = tp.watch()\nx = np.ones((64, 4), 'float32')")
    run_cell("model = keras.Sequential([keras.layers.Dense(4)])\nmodel.compile('sgd', 'mse')")
    yield run_cell
    run_cell("watched.stop()")
    InteractiveShell.clear_instance()


def test_training_cells_are_kept_and_others_are_not(run, tmp_path):
    run(TRAIN.format(8))
    run("1 + 1")
    table = tp.watch().table
    assert list(table["batch"]) == [8]
    assert list(table["steps"]) == [8]
    assert (tmp_path / "tfprof_logs" / "watched_cells.jsonl").exists()
    assert "Training cells" in str(tp.watch())


def test_a_profiled_cell_is_watched_too(run):
    run("%load_ext tfprof_nb")
    run("%%tfprofile base --quiet\n" + TRAIN.format(4))
    assert len(tp.last().steps.table) == 16
    assert list(tp.watch().table["steps"]) == [16]


def test_a_cell_that_became_slower_says_so_below_it_unless_it_is_to_be_quiet(run, tmp_path):
    shown = run(TRAIN.format(8))
    assert shown == ""
    (kept,), _ = read_cells(tmp_path / "tfprof_logs")
    kept.intervals = [each._replace(step_ms=each.step_ms / 1000) for each in kept.intervals]
    append_cell(tmp_path / "tfprof_logs", kept)
    assert "times as long per example as at" in run(TRAIN.format(8))
    run("tp.watch(quiet=True)")
    append_cell(tmp_path / "tfprof_logs", kept)
    assert run(TRAIN.format(8)) == ""


def test_there_is_one_watch_until_it_stops(run):
    assert tp.watch() is tp.watch()
    run("watched.stop()")
    run(TRAIN.format(8))
    assert run("print(len(watched.table))") == "0\n"


def test_a_capture_from_one_cell_to_another_leaves_nothing_behind(run):
    from keras.src.callbacks.callback_list import CallbackList

    run("watched.stop()")
    before = dict(vars(CallbackList))
    run("tp.start()")
    run("watched = tp.watch()")
    run(TRAIN.format(8))
    run("p = tp.stop()")
    run(TRAIN.format(8))
    assert len(tp.last().steps.table) == 8
    assert list(tp.watch().table["steps"]) == [8]
    run("watched.stop()")
    assert dict(vars(CallbackList)) == before


def test_outside_of_a_notebook_there_are_no_cells():
    InteractiveShell.clear_instance()
    with pytest.raises(tp.TfprofError, match=r"cells of a notebook"):
        tp.watch()
