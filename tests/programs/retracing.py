"""Functions that are traced again."""

import keras
import numpy as np
import tensorflow as tf

import tfprof_nb as tp
from programs import program

RATES = [tf.Variable(tf.ones((4, 4))) for _ in range(3)]


def adapt(x, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum([tf.tanh(tf.matmul(x, w)) for w in RATES])
    for w, gradient in zip(RATES, tape.gradient(loss, RATES), strict=True):
        w.assign_sub(rate * gradient)


def adapt_anew(x):
    step = tf.function(lambda: adapt(x, 0.1))
    step()


@tf.function
def scaled(values):
    for _ in range(200):
        values = tf.tanh(values) * 1.01
    return values


@program
def function_per_call():
    for _ in range(20):
        adapt_anew(tf.random.normal((4, 4)))


@program(warm_up=False)
def smaller_last_batch():
    def loop():
        for i, size in enumerate([64] * 30 + [16]):
            with tp.step(i):
                scaled(tf.ones((size, 4)))

    return loop


@program(warm_up=False)
def smaller_last_prediction():
    model = keras.Sequential([keras.layers.Dense(8) for _ in range(12)])
    return lambda: model.predict(tf.ones((30 * 32 + 8, 4)), verbose=0)


@program(warm_up=False)
def second_model():
    models = [keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(size)]) for size in (2, 3)]
    for model in models:
        model.compile("sgd", "mse")
    batches = [
        (np.ones((8, size), kind), np.ones((8, out), "float32")) for size, out, kind in ((4, 2, "f4"), (6, 3, "f8"))
    ]

    def train():
        for k in range(60):
            models[k >= 20].train_on_batch(*batches[k >= 20])

    return train
