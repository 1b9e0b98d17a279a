"""Why this package exists: what today's standard recipe shows elsewhere, and here."""

import pytest

import tfprof_nb as tp

pytestmark = pytest.mark.tensorflow

BATCHES = 20
PROFILED = (5, 14)


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """Train with Keras and its TensorBoard callback, as the TensorFlow Profiler guide says."""
    keras = pytest.importorskip("keras")
    tf = pytest.importorskip("tensorflow")
    pytest.importorskip("tensorboard")
    folder = tmp_path_factory.mktemp("standard_recipe")
    data = tf.data.Dataset.from_tensor_slices((tf.random.normal((BATCHES * 8, 16)), tf.zeros((BATCHES * 8, 1))))
    model = keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data.batch(8), verbose=0, callbacks=[keras.callbacks.TensorBoard(str(folder), profile_batch=PROFILED)])
    return folder


def test_the_standard_recipe_shows_no_step_elsewhere(logdir):
    """Keras 3 marks no steps and its callback's batches lack the flag of a root, so that XProf averages nothing."""
    pages = tp.load(logdir).xprof("overview_page")
    assert len(pages["steps"]) == 0
    averages = {name: value for name, value in pages["steps"].attrs.items() if name.endswith(("_avg", "_average"))}
    assert averages
    assert set(averages.values()) == {0}
    assert "No step marker" in " ".join(pages["diagnostics"]["message"])


def test_the_same_files_show_every_step_here(logdir):
    p = tp.load(logdir)
    assert p.steps.summary["source"] == "keras"
    assert len(p.steps.table) == PROFILED[1] - PROFILED[0] + 1
    assert p.steps.summary["step_ms_mean"] > 0
    assert p.overview.summary["verdict"] != "unknown"
