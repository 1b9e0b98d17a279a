"""A slow input pipeline, its fix, and the fix with larger batches."""

import time

import keras
import tensorflow as tf

from programs import program

STEPS, BATCH = 20, 16
READING_S = 0.1


def read(x):
    time.sleep(READING_S)
    return x


def training(batch=BATCH, *, slow):
    """Return a function that trains once, on data that take long to read or not."""
    x = tf.random.normal((batch * STEPS, 8))
    data = tf.data.Dataset.from_tensor_slices((x, x)).batch(batch)
    if slow:
        data = data.map(lambda x, y: (tf.ensure_shape(tf.numpy_function(read, [x], tf.float32), (None, 8)), y))
    model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(8)])
    model.compile("sgd", "mse")
    model.fit(data.take(2), verbose=0)
    return lambda: model.fit(data, verbose=0)


@program(warm_up=False)
def slow():
    return training(slow=True)


@program(warm_up=False)
def fixed():
    return training(slow=False)


@program(warm_up=False)
def wide():
    return training(2 * BATCH, slow=False)
