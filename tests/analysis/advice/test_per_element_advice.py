"""A map that is called for each example, though one call could take a batch."""

import keras
import numpy as np
import tensorflow as tf

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


def by_batch():
    fit(tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(200).map(scale))


NAMED = "Steps wait for their data: scale is called for each single example"


def test_a_map_of_rows_is_told_to_take_batches(advised, place_of, the_one):
    found = the_one(advised(by_row), NAMED)
    assert found["place"] == place_of(by_row, ".map(scale)")
    assert "runs 200 times for one batch" in found["evidence"]
    assert found["change"] == "fit(tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(200).map(scale))"


def test_a_function_that_would_mix_the_rows_is_told_to_be_rewritten(advised, the_one):
    found = the_one(advised(by_row_of_other_shape), "Steps wait for their data: first_half is called for each single")
    assert found["change"] == ""
    assert "Write first_half for whole batches" in found["fix"]
    assert "behind `.batch(200)`" in found["fix"]


def test_a_map_of_batches_is_not(advised):
    assert not advised(by_batch)["finding"].str.contains("each single example").any()
