"""A filter that decides on the same elements in each epoch, and one that draws."""

import keras
import numpy as np
import tensorflow as tf

from programs import program

X = np.random.default_rng(0).random((4000, 12), "float32")


def is_valid(x):
    return tf.logical_and(tf.reduce_all(tf.math.is_finite(x)), tf.reduce_max(x) < 2)


def is_drawn(x):
    return tf.logical_and(tf.reduce_max(x) < 2, tf.random.uniform([]) < 0.9)


def fit(data):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data.batch(100).map(lambda x: (x, x[:, :1])), epochs=3, verbose=0)


@program
def filtered():
    data = tf.data.Dataset.from_tensor_slices(X).shuffle(500).filter(is_valid)
    fit(data)


@program
def drawn():
    fit(tf.data.Dataset.from_tensor_slices(X).filter(is_drawn))
