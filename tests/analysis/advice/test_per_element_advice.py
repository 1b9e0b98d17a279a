"""A map that is called for each example, though one call could take a batch."""

from types import SimpleNamespace

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from tfprof_nb.analysis.advice.rules.input.map_per_element import cause as per_element
from tfprof_nb.analysis.source.code import Code

X = np.random.default_rng(0).random((6000, 12), "float32")


def scale(x, y):
    x = tf.clip_by_value((x - 0.5) / 0.3, -3.0, 3.0)
    return tf.math.log1p(tf.abs(x)), y


def first_half(x, y):
    return tf.sqrt(x[:6]), y


def fit(data):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data, verbose=0)


def by_row():
    fit(tf.data.Dataset.from_tensor_slices((X, X[:, :1])).map(scale).batch(200))


def by_row_of_other_shape():
    fit(tf.data.Dataset.from_tensor_slices((X, X[:, :1])).map(first_half).batch(200))


def by_filter():
    fit(
        tf.data.Dataset.from_tensor_slices((X, X[:, :1]))
        .filter(lambda x, y: tf.reduce_max(tf.abs(x)) > 0)
        .map(scale)
        .batch(99)
    )


def by_batch():
    fit(tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(200).map(scale))


NAMED = "Steps wait for their data: scale is called for each single example"


def test_a_map_of_rows_is_told_to_take_batches(advised, place_of, the_one):
    found = the_one(advised(by_row), NAMED)
    assert found["place"] == place_of(by_row, ".map(scale)")
    assert "runs 200 times for one batch" in found["evidence"]
    assert found["change"] == "fit(tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(200).map(scale))"


@pytest.mark.parametrize(
    ("busy", "computing", "beside_percent"), [(1.9, 10.0, 6.25), (0.9, 20.0, 0.0), (0.9, 120.0, 6.25)]
)
def test_what_other_stages_take_of_a_call_is_not_saved(busy, computing, beside_percent):
    """Of a call of 20 ms, the map takes 8 ms; it works for 50 of the steps' 200 ms, on 2 cores that are busy."""
    stage = "Iterator::Root::Batch::Map"
    calls = {"long_name": ["Iterator::Root::Batch", stage, f"{stage}::Filter"], "calls": [1, 32, 40]}
    ops = {"file": "cell", "line": [1], "op_type": "Mul", "op_ms": [0.1], "occurrences": [100]}
    evidence = SimpleNamespace(
        line_of=lambda _name: "cell line 4",
        code=Code({"cell": "def half(x):\n    return x / 2\n\ndata = files.map(half).batch(32)"}),
        tf_data=SimpleNamespace(
            table=pd.DataFrame(calls), summary={"bottleneck_long_name": stage, "bottleneck_ms": 8.0, "latency_ms": 20.0}
        ),
        source=lambda: SimpleNamespace(all_ops=pd.DataFrame(ops)),
        ops=SimpleNamespace(table=pd.DataFrame({"op_name": [stage], "self_us": [50_000.0]})),
        steps=SimpleNamespace(table=pd.DataFrame({"step_ms": [100.0, 100.0], "host_compute_ms": computing})),
        own_cores=(busy, 2),
    )
    cause = per_element(evidence)
    assert cause.name == "half is called for each single example"
    assert (cause.least_saved, cause.most_saved, cause.beside_percent) == (pytest.approx(0.16), 0.4, beside_percent)


def test_a_slow_filter_is_not_taken_for_the_map_behind_it(advised, place_of, the_one):
    found = the_one(advised(by_filter), "Steps wait for their data: Filter is slow")
    assert place_of(by_filter, ".filter(") in found["evidence"]


def test_a_function_that_would_mix_the_rows_is_told_to_be_rewritten(advised, the_one):
    found = the_one(advised(by_row_of_other_shape), "Steps wait for their data: first_half is called for each single")
    assert found["change"] == ""
    assert "Write first_half for whole batches" in found["fix"]
    assert "behind `.batch(200)`" in found["fix"]


def test_a_map_of_batches_is_not(advised):
    assert not advised(by_batch)["finding"].str.contains("each single example").any()
