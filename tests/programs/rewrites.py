"""Programs and their rewrites, by which a step becomes something else."""

import time
from itertools import count

import keras
import numpy as np
import tensorflow as tf

from programs import program

EXAMPLES, BATCH = 256, 8
SLOW_S = 0.02
RANDOM = np.random.default_rng(0)
DATA = RANDOM.normal(size=(EXAMPLES, 16)).astype("float32"), RANDOM.normal(size=(EXAMPLES, 1)).astype("float32")


def model(**options):
    made = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dense(16), keras.layers.Dense(1)])
    made.compile("sgd", "mse", **options)
    return made


class Slow(keras.callbacks.Callback):
    """Takes time after each execution, so that no load hides what fewer of them gain."""

    def on_train_batch_end(self, batch, logs=None):
        time.sleep(SLOW_S)


class SlowAtEnds(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        time.sleep(50 * SLOW_S)


def training(made, *callbacks, **options):
    return lambda: made.fit(*DATA, verbose=0, callbacks=list(callbacks), **options)


@program
def small_batches():
    return training(model(), Slow(), batch_size=4)


@program
def large_batches():
    return training(model(), Slow(), batch_size=64)


@program
def one_step_per_execution():
    return training(model(), Slow(), batch_size=BATCH)


@program
def ten_steps_per_execution():
    """The last execution has fewer batches."""
    return training(model(steps_per_execution=10), Slow(), batch_size=BATCH)


WEIGHT = tf.Variable(tf.ones((16, 16)))
BATCHES = tf.data.Dataset.from_tensor_slices(tf.ones((32 * BATCH, 16))).batch(BATCH)


@tf.function
def forward(x):
    tf.numpy_function(lambda: time.sleep(2 * SLOW_S), [], [])
    return tf.reduce_mean(x @ WEIGHT)


@tf.function
def update(loss):
    tf.numpy_function(lambda: time.sleep(2 * SLOW_S), [], [])
    WEIGHT.assign_sub(0.001 * loss * tf.ones_like(WEIGHT))


@tf.function
def both(x):
    tf.numpy_function(lambda: time.sleep(SLOW_S), [], [])
    WEIGHT.assign_sub(0.001 * tf.reduce_mean(x @ WEIGHT) * tf.ones_like(WEIGHT))


@program
def two_functions():
    """Nothing marks the steps: each batch has two calls."""
    for x in BATCHES:
        update(forward(x))


@program
def one_function():
    for x in BATCHES:
        both(x)


@program
def slow_epoch_ends():
    return training(model(), SlowAtEnds(), epochs=2)


@program
def quick_epoch_ends():
    return training(model(), epochs=2)


@tf.function
def step(x, scale):
    for _ in range(20):
        x = tf.tanh(x * scale)
    return x


NUMBERS = count()
ONES = tf.ones((BATCH, 4))


@program
def traced_in_each_call():
    for _ in range(10):
        step(ONES, 0.1 * next(NUMBERS))


@program
def traced_once():
    for _ in range(10):
        step(ONES, tf.constant(0.1 * next(NUMBERS)))


def cold(*callbacks):
    """Return a function that makes the model, which traces in its first step, and trains it."""

    def run():
        time.sleep(1)
        model().fit(*DATA, batch_size=BATCH, verbose=0, callbacks=list(callbacks))

    return run


@program(warm_up=False)
def cold_with_callback():
    return cold(Slow())


@program(warm_up=False)
def cold_without_callback():
    return cold()
