"""Programs with one planted fault in Python: the first finding names the cause and its place."""

import inspect
import time
from types import SimpleNamespace

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import tfprof_nb as tp
from tfprof_nb.analysis.advice.evidence import training_ms
from tfprof_nb.analysis.advice.rules.python.python_in_loop import _fix_of


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def line_of(function, text):
    """Return the number of the line of a function that has this text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if text in line)


class Heavy(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.05)


class Sometimes(keras.callbacks.Callback):
    every = 2

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every == 0:
            time.sleep(0.05)


def fit(*callbacks, eagerly=False, epochs=1):
    model = keras.Sequential([keras.layers.Dense(64), keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=eagerly)
    data = np.zeros((160, 16), "float32")
    model.fit(data, data[:, :1], batch_size=8, epochs=epochs, verbose=0, callbacks=list(callbacks))


def test_a_heavy_callback_is_named_with_its_line():
    fit()
    with tp.profile() as p:
        fit(Heavy(), epochs=2)
    first = p.advice.table.iloc[0]
    assert (first["severity"], first["proved_by"]) == ("high", "python")
    assert first["finding"].startswith("Heavy.on_train_batch_end takes")
    assert f"{__file__} line {line_of(Heavy, 'time.sleep')}" in first["evidence"]
    assert first["place"] == f"{__file__} line {line_of(Heavy, 'def on_train')}"
    assert first["change"] == ("def on_train_batch_end(self, batch, logs=None):\n    if batch % 5:\n        return")
    assert first["gain_low_percent"] < first["estimated_gain_percent"] <= first["gain_high_percent"] <= 100
    assert str(p).splitlines()[2].startswith("Heavy.on_train_batch_end takes")
    assert "Python between ops takes time" not in p.advice.table["finding"].tolist()


def test_a_checkpoint_in_every_batch_is_told_to_come_less_often(tmp_path):
    saving = keras.callbacks.ModelCheckpoint(tmp_path / "model.keras", save_freq=1)
    with tp.profile() as p:
        fit(saving)
    first = p.advice.table.iloc[0]
    assert first["finding"].startswith("ModelCheckpoint.on_train_batch_end takes")
    assert 'save_freq="epoch"' in first["fix"]


def slow_metric(batch):
    time.sleep(0.04)
    return float(batch[0, 0])


def test_a_slow_line_of_a_loop_is_named():
    weights = tf.Variable(tf.ones((64, 64)))

    @tf.function
    def step(batch):
        return tf.reduce_sum(batch @ weights)

    batches = iter(tf.data.Dataset.from_tensors(tf.ones((8, 64))).repeat())
    step(next(batches))
    with tp.profile() as p:
        for i in range(40):
            with tp.step(i):
                batch = next(batches)
                step(batch)
                slow_metric(batch)
    first = p.advice.table.iloc[0]
    assert "slow_metric" in first["finding"]
    assert first["place"] == f"{__file__} line {line_of(slow_metric, 'time.sleep')}"


def test_eager_comes_before_the_python_that_it_causes():
    fit(eagerly=True)
    with tp.profile() as p:
        fit(eagerly=True)
    findings = p.advice.table
    assert findings["finding"].iloc[0].startswith("Ops run one by one: run_eagerly")
    assert "Remove run_eagerly=eagerly: it" in findings["fix"].iloc[0]
    assert "Python between ops takes time" not in findings["finding"].tolist()


def rotate(x):
    for _ in range(40):
        x = tf.tanh(x) * 1.01
    return x


def noted(x, seen=[]):  # noqa: B006  (what a user writes)
    seen.append(x)
    for _ in range(40):
        x = tf.tanh(x) * 1.01
    return x


@pytest.mark.parametrize(("function", "traceable"), [(rotate, True), (noted, False)])
def test_a_function_that_runs_op_by_op_beside_a_tf_function_is_told_to_be_one(advised, place_of, function, traceable):
    weights = tf.Variable(tf.ones((32, 32)))

    @tf.function
    def step(x):
        return tf.reduce_sum(x @ weights)

    def loop():
        for _ in range(40):
            step(function(tf.ones((32, 32))))

    first = advised(loop).iloc[0]
    assert first["finding"].startswith("Ops run one by one: ")
    definition = f"def {function.__name__}"
    assert (first["place"] == place_of(function, definition)) == traceable
    assert first["change"] == ("@tf.function\ndef rotate(x):" if traceable else "")


def test_a_checkpoint_per_epoch_is_calm(tmp_path):
    saving = keras.callbacks.ModelCheckpoint(tmp_path / "model.keras")
    with tp.profile() as p:
        fit(saving)
    assert not p.advice.table["finding"].str.startswith("ModelCheckpoint").any()


def test_a_callback_with_a_condition_is_told_which_number_to_raise(advised, place_of):
    table = advised(lambda: fit(Sometimes(), epochs=2))
    assert table["fix"].iloc[0] == (
        f"Let it run less often: raise self.every in `if batch % self.every == 0:` ({place_of(Sometimes, 'if batch')})."
    )


def test_a_step_that_computes_has_no_finding_on_python():
    model = keras.Sequential([keras.layers.Dense(3000), keras.layers.Dense(3000), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensors((tf.ones((256, 512)), tf.ones((256, 1)))).repeat(12).prefetch(2)
    model.fit(data, verbose=0)
    with tp.profile() as p:
        model.fit(data, verbose=0)
    assert not (p.advice.table["proved_by"] == "python").any()
    assert "POTENTIALLY" not in str(p)


def test_an_array_that_grows_is_told_to_be_joined_once_as_it_was():
    def fix(code):
        return _fix_of("", "<module>", code, "cell line 1", code, looping=False)

    joined = fix("rows = np.concatenate([rows, batch], axis=1)")
    assert "`rows_parts = [rows]` before the loop" in joined
    assert joined.endswith("`rows = np.concatenate(rows_parts, axis=1)`.")
    assert fix("rows = tf.concat((rows, batch), 0)").endswith("`rows = tf.concat(rows_parts, 0)`.")
    assert "parts" not in fix("rows = np.concatenate([others, batch])")


@pytest.mark.parametrize(("warm_up", "training"), [([True, False, False], 200), ([True, True, True], 300)])
def test_shares_are_of_the_time_without_warm_up_unless_every_step_is_warm_up(warm_up, training):
    """Three steps of 100 ms: where a function is traced in each of them, no other time is left."""
    table = pd.DataFrame({"host": "a", "start_ms": [0.0, 100.0, 200.0], "step_ms": 100.0, "warm_up": warm_up})
    assert training_ms(SimpleNamespace(steps=SimpleNamespace(table=table))) == training


def write_samples(model, epoch):
    time.sleep(0.3)


def train_in_epochs(step, batches):
    for epoch in range(4):
        for batch in batches:
            step(batch)
        write_samples(step, epoch)


def test_what_each_epoch_does_is_told_as_a_whole_and_not_per_step():
    step = tf.function(lambda x: tf.linalg.matmul(x, x))
    batches = [tf.ones((600, 600))] * 20
    train_in_epochs(step, batches)
    with tp.profile() as p:
        train_in_epochs(step, batches)
    first = p.advice.table.iloc[0]
    assert first["finding"].startswith("write_samples")
    assert " ms in all, " in first["evidence"]
    assert "in few passes of `for epoch in range(4):` only, or once after the loop" in first["fix"]
