"""Objects that yield the same data in each epoch, and ones that draw it."""

import random

import keras
import numpy as np
import tensorflow as tf

from programs import program

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


@program
def iterated():
    rows = Rows(200)
    data = tf.data.Dataset.from_generator(lambda: rows, output_signature=ROW)
    fit(data.batch(20))


@program
def called():
    data = tf.data.Dataset.from_generator(DrawnRows(200), output_signature=ROW)
    fit(data.batch(20))
