"""One fault in Python: in callbacks, loops and functions that run op by op."""

import threading
import time

import keras
import numpy as np
import tensorflow as tf

import tfprof_nb as tp
from programs import program


class Heavy(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.05)


class Sometimes(keras.callbacks.Callback):
    every = 2

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every == 0:
            time.sleep(0.05)


def fit(*callbacks, eagerly=False, epochs=1):
    model = keras.Sequential([keras.layers.Dense(64), keras.layers.Dense(1)])
    model.compile("sgd", "mse", run_eagerly=eagerly)
    data = np.zeros((160, 16), "float32")
    model.fit(data, data[:, :1], batch_size=8, epochs=epochs, verbose=0, callbacks=list(callbacks))


def slow_metric(batch):
    time.sleep(0.04)
    return float(batch[0, 0])


def rotate(x):
    for _ in range(40):
        x = tf.tanh(x) * 1.01
    return x


def noted(x, seen=[]):  # noqa: B006  (what a user writes)
    seen.append(x)
    for _ in range(40):
        x = tf.tanh(x) * 1.01
    return x


def write_samples(model, epoch):
    time.sleep(0.3)


def train_in_epochs(step, batches):
    for epoch in range(4):
        for batch in batches:
            step(batch)
        write_samples(step, epoch)


@program(warm_up=False)
def heavy_callback():
    fit()
    return lambda: fit(Heavy(), epochs=2)


@program(warm_up=False)
def checkpoint_per_batch():
    saving = keras.callbacks.ModelCheckpoint("model.keras", save_freq=1)
    return lambda: fit(saving)


@program(warm_up=False)
def slow_line():
    weights = tf.Variable(tf.ones((64, 64)))

    @tf.function
    def step(batch):
        return tf.reduce_sum(batch @ weights)

    batches = iter(tf.data.Dataset.from_tensors(tf.ones((8, 64))).repeat())
    step(next(batches))

    def loop():
        for i in range(40):
            with tp.step(i):
                batch = next(batches)
                step(batch)
                slow_metric(batch)

    return loop


@program(warm_up=False)
def workers():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])

    def work():
        for _ in range(10):
            model.predict(np.ones((1, 4), "float32"), verbose=0)

    def loop():
        for _ in range(2):
            worker = threading.Thread(target=work)
            worker.start()
            worker.join()

    return loop


@program
def run_eagerly():
    fit(eagerly=True)


def beside_a_function(function):
    weights = tf.Variable(tf.ones((32, 32)))

    @tf.function
    def step(x):
        return tf.reduce_sum(x @ weights)

    def loop():
        for _ in range(40):
            step(function(tf.ones((32, 32))))

    return loop


@program
def traceable():
    return beside_a_function(rotate)


@program
def not_traceable():
    return beside_a_function(noted)


@program(warm_up=False)
def checkpoint_per_epoch():
    saving = keras.callbacks.ModelCheckpoint("model.keras")
    return lambda: fit(saving)


@program
def condition():
    fit(Sometimes(), epochs=2)


@program
def computing():
    model = keras.Sequential([keras.layers.Dense(3000), keras.layers.Dense(3000), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensors((tf.ones((256, 512)), tf.ones((256, 1)))).repeat(12).prefetch(2)
    return lambda: model.fit(data, verbose=0)


@program
def epoch_ends():
    step = tf.function(lambda x: tf.linalg.matmul(x, x))
    batches = [tf.ones((600, 600))] * 20
    return lambda: train_in_epochs(step, batches)
