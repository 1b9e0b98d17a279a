"""Validation that waits for its data is told as validation."""

import time

import keras
import numpy as np
import pytest
import tensorflow as tf

X = np.random.default_rng(0).random((640, 8), "float32")


def slow(x):
    time.sleep(0.02)
    return x


def checked(x, y):
    x = tf.ensure_shape(tf.numpy_function(slow, [x], tf.float32), (None, 8))
    return x, y


@pytest.fixture
def fit():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    batches = tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(40)

    def of(train, validation, *callbacks):
        return lambda: model.fit(
            train(batches), validation_data=validation(batches), epochs=3, callbacks=list(callbacks), verbose=0
        )

    return of


def plain(batches):
    return batches


def waiting(batches):
    return batches.map(checked)


def test_slow_validation_data_is_named(advised, fit, the_one):
    found = the_one(advised(fit(plain, waiting)), "Validation waits for its data: slow ")
    assert found["severity"] == "high"
    assert found["evidence"].startswith("In 3 epochs, validation takes ")


class Heavy(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.15)


def test_slow_validation_data_is_named_beside_a_callback_that_hides_it(advised, fit, the_one):
    """Validation waits for a second, the callback for seven."""
    table = advised(fit(plain, waiting, Heavy()))
    assert table["finding"].iloc[0].startswith("Heavy.on_train_batch_end takes")
    found = the_one(table, "Validation waits for its data: slow ")
    assert 5 < found["estimated_gain_percent"] < 15
    assert found["severity"] == "medium"
    assert not table["finding"].str.startswith("Steps wait").any()


def test_a_callback_in_steps_saves_no_more_than_their_part_of_the_training(advised, fit):
    """The callback is most of each step of 20 ms, but each batch of validation takes as long."""

    class Light(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            time.sleep(0.02)

    table = advised(fit(plain, waiting, Light()))
    (row,) = table[table["finding"].str.contains("Light.on_train_batch_end takes")].to_dict("records")
    assert row["gain_high_percent"] < 85


def test_slow_training_data_is_no_matter_of_validation(advised, fit):
    assert not advised(fit(waiting, plain))["finding"].str.startswith("Validation waits").any()


def enlarge(x, y):
    for _ in range(30):
        x = tf.linalg.matmul(x, x) / 400.0
    return x[0], y


def test_one_change_for_training_and_validation_is_one_finding(advised, the_one):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")

    def train():
        rows = tf.data.Dataset.from_tensor_slices((tf.ones((60, 200, 200)), tf.ones(60))).map(enlarge)
        model.fit(rows.take(40).batch(4), validation_data=rows.batch(4), epochs=4, verbose=0)

    table = advised(train)
    found = the_one(table, "Steps wait for their data: enlarge runs anew in each of 4 epochs")
    assert "In 4 epochs, validation takes " in found["evidence"]
    assert found["evidence"].endswith(" of that, for the same reason.")
    assert not table["finding"].str.startswith("Validation waits").any()
