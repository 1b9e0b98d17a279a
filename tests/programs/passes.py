"""Trainings whose passes over the data are short, or whose validation is long."""

import keras
import numpy as np

from programs import Cells, program

SETUP = """x = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
y = x[:, :1]
looks = [keras.layers.Discretization([-1.0, 0.0, 1.0], output_mode="one_hot") for _ in range(8)]
def encode(x, y):
    return tf.concat([look(x[:, i : i + 1]) for i, look in enumerate(looks)], -1), y
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).batch(16).map(encode).prefetch(2)
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, verbose=0)"""
short = Cells(SETUP, "model.fit(data, epochs=12, verbose=0)")
repeated = Cells(SETUP, "model.fit(data.repeat(), steps_per_epoch=4, epochs=12, verbose=0)")

PLAIN = """x = np.random.default_rng(0).normal(size=(32, 8)).astype("float32")
y = x[:, :1]
held_x, held_y = np.tile(x, (400, 1)), np.tile(y, (400, 1))
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, verbose=0)"""
short_of_arrays = Cells(PLAIN, "model.fit(x, y, batch_size=16, epochs=12, verbose=0)")
long_validation = Cells(PLAIN, "model.fit(x, y, validation_data=(held_x, held_y), epochs=3, verbose=0)")

LOOP = """x = np.random.default_rng(0).normal(size=(2000, 32)).astype("float32")
weights = tf.Variable(tf.zeros((32, 1)))
@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((a @ weights - b) ** 2)
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
batches = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).shuffle(2000).batch(32).prefetch(2)
for a, b in batches:
    step(a, b)"""
ends = Cells(LOOP, "for epoch in range(20):\n    for a, b in batches:\n        step(a, b)")


def net():
    made = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    made.compile("sgd", "mse")
    return made


def learn(actor, critic, state):
    now, then = critic.predict(state, verbose=0)[0], critic.predict(state * 0.9, verbose=0)[0]
    actor.fit(state, then[None] - now[None], epochs=1, verbose=0)
    critic.fit(state, then[None], epochs=1, verbose=0)


@program
def one_row_each():
    actor, critic, state = net(), net(), np.ones((1, 4), "float32")

    def run():
        for _ in range(12):
            learn(actor, critic, state)

    run()
    return run


@program
def many_batches_each():
    model, rows = net(), np.ones((1000, 4), "float32")

    def run():
        for _ in range(12):
            model.predict(rows, verbose=0)

    run()
    return run
