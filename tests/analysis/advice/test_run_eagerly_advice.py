"""What to do about run_eagerly=True: to remove it breaks a model whose step needs values."""

import keras
import numpy as np
import tensorflow as tf


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


def test_a_step_that_needs_values_must_change_before_it_can_run_as_a_graph(advised, place_of, the_one):
    found = the_one(advised(lambda: fit(Mixed())), "Ops run one by one: run_eagerly")
    where = f"Mixed.train_step ({place_of(Mixed, 'def train_step')})"
    assert found["fix"].startswith(f"Compute with TensorFlow's ops in {where}: `np.arange` needs values")
    assert "Then remove run_eagerly=True." in found["fix"]
    assert not found["change"]


def test_a_callback_that_needs_values_does_not_keep_the_model_from_being_a_graph(advised, the_one):
    layers = [keras.layers.Dense(64, activation="tanh") for _ in range(8)]
    found = the_one(advised(lambda: fit(keras.Sequential([*layers, keras.layers.Dense(4)]))), "Ops run one by one")
    assert found["fix"].startswith("Remove run_eagerly=True: it is for debugging.")
    assert "run_eagerly" not in found["change"]
