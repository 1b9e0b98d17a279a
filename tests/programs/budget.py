"""A training that begins cold, and a function that is traced in each call."""

import keras
import tensorflow as tf

from programs import program


@program(warm_up=False)
def cold_training():
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    x, y = tf.ones((20, 4)), tf.ones((20, 1))
    return lambda: model.fit(x, y, batch_size=8, epochs=2, validation_split=0.2, verbose=0)


@program(warm_up=False)
def traced_in_each_call():
    @tf.function
    def step(scale):
        return tf.ones((2, 2)) * scale

    def loop():
        for number in range(8):
            step(0.1 * number)

    return loop
