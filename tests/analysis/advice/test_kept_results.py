"""Python that makes the same data in each epoch: a cache behind it keeps that."""

import random
import re

import keras
import numpy as np
import tensorflow as tf

ROW = tf.TensorSpec((8,), tf.float32)


def digits(n):
    return np.full(8, sum(k * k % 7 for k in range(12_000 + n)) / 1e6, "float32")


def rows():
    for n in range(200):
        yield digits(n)


def drawn():
    return np.full(8, sum(k * k % 7 for k in range(12_000 + random.randrange(9))) / 1e6, "float32")


def drawn_rows():
    for _ in range(200):
        yield drawn()


def fit(data):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data.map(lambda x: (x, x[:, :1])), epochs=3, verbose=0)


def generated():
    data = tf.data.Dataset.from_generator(rows, output_signature=ROW)
    fit(data.batch(20))


def from_chance():
    fit(tf.data.Dataset.from_generator(drawn_rows, output_signature=ROW).batch(20))


def load(n):
    return tf.ensure_shape(tf.numpy_function(digits, [n], tf.float32), (8,))


def mapped():
    numbers = tf.data.Dataset.range(250).shuffle(250)
    data = numbers.map(load).batch(20)
    fit(data)


def test_what_a_generator_yields_is_kept_for_all_epochs(advised, place_of, the_one):
    found = the_one(advised(generated), "Steps wait for their data: digits makes the data in Python")
    assert found["finding"].endswith(", anew in each of 3 epochs")
    assert found["place"] == place_of(generated, "from_generator(")
    assert found["change"] == "data = tf.data.Dataset.from_generator(rows, output_signature=ROW).cache()"


def test_what_a_generator_draws_is_not(advised, the_one):
    found = the_one(advised(from_chance), "Steps wait for their data")
    assert ".cache()" not in found["fix"] + found["change"]


def test_a_cache_behind_shuffled_elements_is_shuffled_again(advised, place_of, the_one):
    found = the_one(advised(mapped), "Steps wait for their data: digits makes the data in Python, anew in each of 3")
    assert found["place"] == place_of(mapped, ".map(load)")
    assert re.fullmatch(r"data = numbers.map\(load\).cache\(\).shuffle\(\d+00\).batch\(20\)", found["change"])
