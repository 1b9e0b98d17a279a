"""Methods of Keras callbacks leave events, and the callbacks are as they were afterwards."""

import time

import keras
import numpy as np
import pytest

import tfprof_nb as tp


class Slow(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.03)


class Old(keras.callbacks.Callback):
    def on_batch_end(self, batch, logs=None):
        time.sleep(0.002)


def fit(*callbacks, epochs=1):
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
    return model.fit(data, data[:, :1], batch_size=8, epochs=epochs, verbose=0, callbacks=list(callbacks)).history


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_each_method_is_timed_by_class():
    seen = []
    later = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(epoch))
    with tp.profile() as p:
        fit(Slow(), Old(), later, epochs=2)
    table = p.python.callbacks.set_index(["callback", "method"])
    assert table.loc[("Slow", "on_train_batch_end"), "calls"] == 16
    assert table.loc[("Slow", "on_train_batch_end"), "total_ms"] >= 480
    assert table.loc[("Old", "on_batch_end"), "total_ms"] >= 32
    assert table.loc[("LambdaCallback", "on_epoch_end"), "calls"] == 2
    assert seen == [0, 1]
    slow = table.loc[("Slow", "on_train_batch_end")]
    assert slow["per_step_ms"] == pytest.approx(slow["total_ms"] / len(p.steps.table))


def test_callbacks_are_neither_compute_nor_waiting():
    with tp.profile() as p:
        fit(Slow())
    row = p.steps.measured[["step_ms", "other_ms", "host_compute_ms"]].mean()
    assert row["other_ms"] > 30
    assert row["host_compute_ms"] < row["step_ms"] - 30


def test_callbacks_and_losses_are_as_they_were():
    callback = Slow()
    plain = fit(Slow(), epochs=2)
    with tp.profile():
        profiled = fit(callback, epochs=2)
    assert profiled == plain
    fresh = Slow()
    fit(fresh)
    assert vars(callback).keys() == vars(fresh).keys()


def test_the_samples_name_the_method():
    with tp.profile() as p:
        fit(Slow(), epochs=4)
    rows = p.python.table
    slow = rows[rows["function"] == "Slow.on_train_batch_end"]
    first = Slow.on_train_batch_end.__code__.co_firstlineno
    assert set(zip(slow["file"], slow["line"], strict=True)) == {(__file__, first + 1)}
    assert 0 < slow["nothing_ms"].sum() <= slow["in_steps_ms"].sum() <= slow["self_ms"].sum()
    assert 0 < p.python.summary["accounted_percent"] <= 100


def test_python_can_be_left_out():
    with tp.profile(python=False) as p:
        fit()
    assert p.python.table.empty
    assert "--no-python" in p.python.notes[0]


def test_calls_of_keras_and_files_of_models_leave_events():
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.zeros((16, 8), "float32")
    with tp.profile() as p:
        model.fit(data, data[:, :1], validation_data=(data, data[:, :1]), epochs=2, verbose=0)
        model.predict(data, verbose=0)
        model.save("model.keras")
        keras.models.load_model("model.keras")
    names = p.events["name"].astype(str)
    assert (names == "keras call fit").sum() == 1
    assert (names == "keras call evaluate").sum() == 2
    tree = p.breakdown.table.set_index("id")
    assert tree.loc["cell/validation", "count"] == 2
    assert tree.loc["cell/predict", "count"] == 1
    assert tree[tree["kind"] == "load"]["count"].tolist() == [1]
    assert tree[tree["kind"] == "save"]["count"].tolist() == [1]
