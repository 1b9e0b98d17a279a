"""Models that run eagerly: one must, one need not."""

import keras
import numpy as np
import tensorflow as tf

from programs import program


class Mixed(keras.Model):
    """A model whose step computes in NumPy, so that it can only run eagerly."""

    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4)

    def call(self, x):
        for _ in range(20):
            x = tf.tanh(x) * 1.01
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        order = np.arange(len(x))[::-1].copy()
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(tf.gather(x, order)))
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        return {"loss": loss}


class Told(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.loss = float(np.mean([logs["loss"]] * 20_000))


def fit(model):
    model.compile("sgd", "mse", run_eagerly=True)
    model.fit(np.ones((320, 8), "float32"), np.ones((320, 4), "float32"), batch_size=8, verbose=0, callbacks=[Told()])


@program
def step_needs_values():
    fit(Mixed())


@program
def callback_needs_values():
    layers = [keras.layers.Dense(64, activation="tanh") for _ in range(8)]
    fit(keras.Sequential([*layers, keras.layers.Dense(4)]))
