"""Maps of a pipeline that are called for each example."""

import keras
import numpy as np
import tensorflow as tf

from programs import program

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


@program
def by_row():
    fit(tf.data.Dataset.from_tensor_slices((X, X[:, :1])).map(scale).batch(200))


@program
def by_row_of_other_shape():
    fit(tf.data.Dataset.from_tensor_slices((X, X[:, :1])).map(first_half).batch(200))


@program
def by_filter():
    fit(
        tf.data.Dataset.from_tensor_slices((X, X[:, :1]))
        .filter(lambda x, y: tf.reduce_max(tf.abs(x)) > 0)
        .map(scale)
        .batch(99)
    )


@program
def by_batch():
    fit(tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(200).map(scale))
