"""Functions and layers of many small ops."""

import keras
import numpy as np
import tensorflow as tf

from programs import program


def by_column(x):
    total = x[:, 0]
    for i in range(1, 120):
        total += tf.clip_by_value(tf.math.log1p(x[:, i]), 0.0, 1.0)
    return total


def smoothed(x):
    state = x[:, 0]
    for t in tf.range(300):
        state = 0.9 * state + 0.1 * x[:, t]
    return state


WEIGHTS = tf.Variable(tf.ones((120, 4)))


def clipped(x):
    total = tf.zeros_like(WEIGHTS)
    for i in tf.range(100) % 8:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(tf.tanh(x[i : i + 1] @ WEIGHTS) * 2.0) ** 2)
        total += tf.clip_by_norm(tape.gradient(loss, WEIGHTS), 1.0)
    return total


def run(function, width):
    step = tf.function(lambda x: tf.reduce_sum(function(x)))
    batches = tf.data.Dataset.from_tensors(tf.ones((8, width))).repeat(30)

    def loop():
        for batch in batches:
            step(batch)

    return loop


class Reader(keras.Model):
    def __init__(self):
        super().__init__()
        self.read = keras.layers.GRU(16)

    def call(self, x):
        return self.read(x)


@program
def columns():
    return run(by_column, 120)


@program
def time_steps():
    return run(smoothed, 300)


@program
def gradients_per_example():
    return run(clipped, 120)


@program
def embeddings():
    inputs = [keras.Input((1,), dtype="int32") for _ in range(20)]
    columns = [keras.layers.Embedding(9, 3)(one) for one in inputs]
    outputs = keras.layers.Dense(1)(keras.layers.Flatten()(keras.layers.Concatenate(axis=1)(columns)))
    model = keras.Model(inputs, outputs)
    model.compile("adam", "mse")
    data = [np.zeros((400, 1), "int32")] * 20
    model.fit(data, np.zeros((400, 1)), batch_size=16, verbose=0)


@program
def recurrent_layer():
    model, optimizer = Reader(), keras.optimizers.SGD()

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )

    def loop():
        for x in tf.data.Dataset.from_tensors(tf.ones((8, 60, 4))).repeat(20):
            step(x)

    return loop
