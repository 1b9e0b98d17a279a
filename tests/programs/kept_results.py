"""Python that makes the same data in each epoch, and Python that draws it."""

import random

import keras
import numpy as np
import tensorflow as tf

from programs import program

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


@program
def generated():
    data = tf.data.Dataset.from_generator(rows, output_signature=ROW)
    fit(data.batch(20))


@program
def from_chance():
    fit(tf.data.Dataset.from_generator(drawn_rows, output_signature=ROW).batch(20))


def load(n):
    return tf.ensure_shape(tf.numpy_function(digits, [n], tf.float32), (8,))


@program
def mapped():
    numbers = tf.data.Dataset.range(250).shuffle(250)
    data = numbers.map(load).batch(20)
    fit(data)
