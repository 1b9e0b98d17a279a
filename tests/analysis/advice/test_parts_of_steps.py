"""Programs of which metrics, the preparation of images, padding or the user's own loss take most of each step."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from keras.utils import pad_sequences

RNG = np.random.default_rng(0)


def scored():
    found = keras.metrics.AUC(num_thresholds=8000, multi_label=True)
    model = keras.Sequential([keras.Input((8,)), layers.Dense(12, activation="sigmoid")])
    model.compile("sgd", "binary_crossentropy", metrics=[found])
    model.fit(RNG.random((1600, 8)), RNG.integers(0, 2, (1600, 12)), batch_size=32, epochs=2, verbose=0)


def test_metrics_with_many_thresholds_are_named(advised, place_of, the_one):
    found = the_one(advised(scored), "The metrics take")
    assert found["place"] == place_of(scored, "AUC(")
    assert "They count at 8,000 thresholds in each step" in found["evidence"]
    assert found["change"] == "found = keras.metrics.AUC(num_thresholds=200, multi_label=True)"


def augmented():
    random = [layers.RandomRotation(0.1), layers.RandomZoom(0.2)]
    model = keras.Sequential([keras.Input((80, 80, 3)), *random, layers.Resizing(20, 20), layers.Flatten()])
    model.add(layers.Dense(2))
    model.compile("sgd", "mse")
    model.fit(RNG.random((96, 80, 80, 3)), RNG.random((96, 2)), batch_size=16, epochs=2, verbose=0)


def test_images_that_are_made_small_late_are_told_to_be_so_at_once(advised, the_one):
    found = the_one(advised(augmented), "Preparing the images takes")
    assert "random_rotation" in found["finding"]
    assert "They work on 6,400 pixels per image, and Resizing then leaves 400." in found["evidence"]
    assert found["fix"].startswith("Put Resizing first")
    assert found["gain_high_percent"] <= 93.75  # of the pixels


def padded():
    sequences = [RNG.integers(1, 50, 12) for _ in range(64)]
    data = pad_sequences(sequences, maxlen=200)
    model = keras.Sequential([layers.Embedding(50, 4), layers.GRU(4), layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data, data[:, :1], batch_size=16, epochs=3, verbose=0)


def test_the_line_that_pads_is_named_where_loops_over_time_take_the_step(advised, place_of, the_one):
    found = the_one(advised(padded), "The GRU goes through 200 time steps")
    assert (found["place"], found["severity"]) == (place_of(padded, "maxlen=200"), "info")


def nearest(pair):
    distance = tf.abs(pair[0][:, None] - pair[1][None, :])
    return tf.reduce_mean(tf.reduce_min(distance, axis=0)) + tf.reduce_mean(tf.reduce_min(distance, axis=1))


def shape_loss(y_true, y_pred):
    return tf.map_fn(nearest, (y_true, y_pred), fn_output_signature=tf.float32)


def with_a_loss_of_its_own():
    model = keras.Sequential([layers.Dense(6)])
    model.compile("sgd", shape_loss)
    model.fit(RNG.random((960, 4), "float32"), RNG.random((960, 6), "float32"), batch_size=48, epochs=2, verbose=0)


def test_a_loss_that_maps_over_examples_is_vectorised(advised, place_of, the_one):
    found = the_one(advised(with_a_loss_of_its_own), "tf.map_fn runs its function for one element after another")
    assert found["place"] == place_of(shape_loss, "map_fn")
    assert found["change"] == "return tf.vectorized_map(nearest, (y_true, y_pred))"
    pair = RNG.random((5, 6), "float32"), RNG.random((5, 6), "float32")
    np.testing.assert_allclose(tf.vectorized_map(nearest, pair), shape_loss(*pair), rtol=1e-5)
