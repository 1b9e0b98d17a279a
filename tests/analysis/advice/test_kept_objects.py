"""Objects that yield the same data in each epoch: a cache behind `from_generator` keeps that."""

import random

import keras
import numpy as np
import tensorflow as tf

ROW = tf.TensorSpec((8,), tf.float32)


class Rows:
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        for n in range(self.count):
            yield self._row(n)

    def _row(self, n):
        return np.full(8, sum(k * k % 7 for k in range(12_000 + n)) / 1e6, "float32")


class DrawnRows:
    def __init__(self, count):
        self.count = count

    def __call__(self):
        for _ in range(self.count):
            yield np.full(8, sum(k * k % 7 for k in range(12_000 + random.randrange(9))) / 1e6, "float32")


def fit(data):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data.map(lambda x: (x, x[:, :1])), epochs=3, verbose=0)


def iterated():
    rows = Rows(200)
    data = tf.data.Dataset.from_generator(lambda: rows, output_signature=ROW)
    fit(data.batch(20))


def called():
    data = tf.data.Dataset.from_generator(DrawnRows(200), output_signature=ROW)
    fit(data.batch(20))


def test_what_an_object_yields_is_kept_for_all_epochs(advised, place_of, the_one):
    found = the_one(advised(iterated), "Steps wait for their data: ")
    assert found["finding"].endswith(" makes the data in Python, anew in each of 3 epochs")
    assert found["place"] == place_of(iterated, "from_generator(")
    assert found["change"] == "data = tf.data.Dataset.from_generator(lambda: rows, output_signature=ROW).cache()"


def test_what_an_object_draws_is_not(advised, the_one):
    assert "anew in each" not in the_one(advised(called), "Steps wait for their data: ")["finding"]
