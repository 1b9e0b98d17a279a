"""Training that waits for its data."""

import time

import keras
import tensorflow as tf

from programs import program


def slow(x):
    time.sleep(0.002)
    return x


def make():
    data = tf.data.Dataset.from_tensor_slices((tf.ones((160, 4)), tf.ones((160, 1))))
    return data.map(lambda x, y: (tf.ensure_shape(tf.numpy_function(slow, [x], tf.float32), (4,)), y)).batch(8)


@program(warm_up=False)
def slow_input():
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return lambda: model.fit(make(), epochs=2, verbose=0)
