"""Training with validation, of which one waits for its data."""

import time

import keras
import numpy as np
import tensorflow as tf

from programs import program

X = np.random.default_rng(0).random((640, 8), "float32")


def slow(x):
    time.sleep(0.02)
    return x


def checked(x, y):
    x = tf.ensure_shape(tf.numpy_function(slow, [x], tf.float32), (None, 8))
    return x, y


BATCHES = tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(40)


def fit(train, validation, *callbacks):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return lambda: model.fit(train, validation_data=validation, epochs=3, callbacks=list(callbacks), verbose=0)


class Heavy(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.15)


def enlarge(x, y):
    for _ in range(30):
        x = tf.linalg.matmul(x, x) / 400.0
    return x[0], y


class Light(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.02)


@program
def waits():
    return fit(BATCHES, BATCHES.map(checked))


@program
def beside_heavy_callback():
    return fit(BATCHES, BATCHES.map(checked), Heavy())


@program
def beside_light_callback():
    return fit(BATCHES, BATCHES.map(checked), Light())


@program
def training_waits():
    return fit(BATCHES.map(checked), BATCHES)


@program
def same_pipeline():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")

    def train():
        rows = tf.data.Dataset.from_tensor_slices((tf.ones((60, 200, 200)), tf.ones(60))).map(enlarge)
        model.fit(rows.take(40).batch(4), validation_data=rows.batch(4), epochs=4, verbose=0)

    return train
