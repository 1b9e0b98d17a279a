"""A filter that decides on the same elements in each epoch: a cache behind it keeps what is left."""

import keras
import numpy as np
import tensorflow as tf

X = np.random.default_rng(0).random((4000, 12), "float32")


def is_valid(x):
    return tf.logical_and(tf.reduce_all(tf.math.is_finite(x)), tf.reduce_max(x) < 2)


def is_drawn(x):
    return tf.logical_and(tf.reduce_max(x) < 2, tf.random.uniform([]) < 0.9)


def fit(data):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data.batch(100).map(lambda x: (x, x[:, :1])), epochs=3, verbose=0)


def filtered():
    data = tf.data.Dataset.from_tensor_slices(X).shuffle(500).filter(is_valid)
    fit(data)


def drawn():
    fit(tf.data.Dataset.from_tensor_slices(X).filter(is_drawn))


def test_what_a_filter_keeps_is_cached_and_shuffled_again(advised, place_of, the_one):
    found = the_one(advised(filtered), "Steps wait for their data: is_valid is called for each single element, anew in")
    assert found["place"] == place_of(filtered, ".filter(is_valid)")
    shuffled = "data = tf.data.Dataset.from_tensor_slices(X).shuffle(500).filter(is_valid).cache().shuffle("
    assert found["change"].startswith(shuffled)


def test_what_chance_decides_is_not(advised, the_one):
    assert the_one(advised(drawn), "Steps wait for their data: ")["finding"].endswith("Filter is slow")
