"""Training in small batches, written in several ways."""

import keras
import numpy as np
import tensorflow as tf

from programs import program

X = np.ones((1200, 16), "float32")
BATCH = 3


@program
def of_four():
    model = keras.Sequential([keras.layers.Dense(16), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(X, X[:, :1], batch_size=4, verbose=0)


def training_step():
    weights = tf.Variable(tf.ones((16, 1)))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(x @ weights)
        weights.assign_sub(0.1 * tape.gradient(loss, weights))

    return step


@program
def named_size():
    step = training_step()
    data = tf.data.Dataset.from_tensor_slices(X).batch(BATCH).prefetch(2)

    def loop():
        for x in data:
            step(x)

    return loop


@program
def dataset():
    step = training_step()

    def loop():
        for x in tf.data.Dataset.from_tensor_slices(X).batch(2).prefetch(2):
            step(x)

    return loop


def scores(model):
    return [model.evaluate(X + k, X[:, :1], verbose=0) for k in range(8)]


@program
def made_by_keras():
    model = keras.Sequential([keras.layers.Dense(16), keras.layers.Dense(1)])
    model.compile("sgd", "mse")

    def evaluate():
        scores(model)

    return evaluate


@program
def large():
    model = keras.Sequential([keras.layers.Dense(30_000), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(X, X[:, :1], batch_size=200, epochs=3, verbose=0)
