"""Larger batches are advised only where the fixed cost of steps rules."""

from types import SimpleNamespace

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from tfprof_nb.analysis.advice.rules.graph.small_steps import _loop
from tfprof_nb.analysis.source.code import Code

BEGIN = "The steps are small"
X = np.ones((1200, 16), "float32")


def fit(batch_size, units=16):
    model = keras.Sequential([keras.layers.Dense(units), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    if batch_size == 4:
        model.fit(X, X[:, :1], batch_size=4, verbose=0)
    else:
        model.fit(X, X[:, :1], batch_size=batch_size, epochs=3, verbose=0)


def test_a_batch_of_four(advised, place_of, the_one):
    table = advised(lambda: fit(4))
    found = the_one(table, BEGIN)
    assert found["finding"] == "The steps are small: 4 examples each"
    assert found["place"] == place_of(fit, "batch_size=4, ")
    assert found["change"] == "model.fit(X, X[:, :1], batch_size=64, verbose=0)"
    # With 16 times as many examples per step, at most 15 of 16 parts of the steps are saved.
    assert 0 < found["gain_low_percent"] < found["gain_high_percent"] <= 100 * 15 / 16
    assert not table["finding"].str.startswith("Python between ops").any()


BATCH = 3


def test_a_loop_over_a_dataset_whose_batch_size_has_a_name(advised, the_one):
    weights = tf.Variable(tf.ones((16, 1)))
    data = tf.data.Dataset.from_tensor_slices(X).batch(BATCH).prefetch(2)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(x @ weights)
        weights.assign_sub(0.1 * tape.gradient(loss, weights))

    def loop():
        for x in data:
            step(x)

    found = the_one(advised(loop), BEGIN)
    assert (found["change"], found["place"].partition(" line ")[0]) == ("BATCH = 48", __file__)


def scores(model):
    return [model.evaluate(X + k, X[:, :1], verbose=0) for k in range(8)]


def test_the_batch_that_keras_makes_is_set_where_it_gets_the_arrays(advised, place_of, the_one):
    model = keras.Sequential([keras.layers.Dense(16), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    found = the_one(advised(lambda: scores(model)), BEGIN)
    assert found["place"] == place_of(scores, "model.evaluate")
    assert "model.evaluate(X + k, X[:, :1], verbose=0, batch_size=256)" in found["change"]


def test_a_loop_over_a_dataset(advised, the_one):
    weights = tf.Variable(tf.ones((16, 1)))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(x @ weights)
        weights.assign_sub(0.1 * tape.gradient(loss, weights))

    def loop():
        for x in tf.data.Dataset.from_tensor_slices(X).batch(2).prefetch(2):
            step(x)

    assert the_one(advised(loop), BEGIN)["finding"].startswith("The steps are small: 2 examples")


@pytest.mark.parametrize(("call", "needs"), [("out, state = step(x, state)", True), ("out = step(x, 1)", False)])
def test_calls_that_need_one_another_are_known_by_their_loop(call, needs):
    row = {"thread": "main", "file": "cell", "line": 3, "library": "TensorFlow", "in_steps_ms": 5.0}
    code = Code({"cell": f"state = 0\nfor x in data:\n    {call}"})
    evidence = SimpleNamespace(python=SimpleNamespace(table=pd.DataFrame([row])), code=code)
    assert _loop(evidence) == ("cell line 2", needs)


def test_a_loop_that_waits_for_its_batches_is_the_one_that_calls_the_steps():
    row = {"thread": "main", "file": "cell", "line": 2, "library": "TensorFlow", "in_steps_ms": 5.0}
    code = Code({"cell": "for epoch in range(3):\n    for x in data:\n        step(x)"})
    evidence = SimpleNamespace(python=SimpleNamespace(table=pd.DataFrame([row])), code=code)
    assert _loop(evidence) == ("cell line 2", False)


def test_steps_that_compute_are_large_enough(advised):
    assert not advised(lambda: fit(200, units=30_000))["finding"].str.startswith(BEGIN).any()
