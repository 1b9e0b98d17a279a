"""Metrics, the preparation of images, padding and a loss that take most of each step."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from keras.utils import pad_sequences

from programs import program

RNG = np.random.default_rng(0)


@program
def scored():
    found = keras.metrics.AUC(num_thresholds=8000, multi_label=True)
    model = keras.Sequential([keras.Input((8,)), layers.Dense(12, activation="sigmoid")])
    model.compile("sgd", "binary_crossentropy", metrics=[found])
    model.fit(RNG.random((1600, 8)), RNG.integers(0, 2, (1600, 12)), batch_size=32, epochs=2, verbose=0)


@program
def augmented():
    random = [layers.RandomRotation(0.1), layers.RandomZoom(0.2)]
    model = keras.Sequential([keras.Input((80, 80, 3)), *random, layers.Resizing(20, 20), layers.Flatten()])
    model.add(layers.Dense(2))
    model.compile("sgd", "mse")
    model.fit(RNG.random((96, 80, 80, 3)), RNG.random((96, 2)), batch_size=16, epochs=2, verbose=0)


@program
def padded():
    sequences = [RNG.integers(1, 50, 12) for _ in range(64)]
    data = pad_sequences(sequences, maxlen=200)
    model = keras.Sequential([layers.Embedding(50, 4), layers.GRU(4), layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(data, data[:, :1], batch_size=16, epochs=3, verbose=0)


def nearest(pair):
    distance = tf.abs(pair[0][:, None] - pair[1][None, :])
    return tf.reduce_mean(tf.reduce_min(distance, axis=0)) + tf.reduce_mean(tf.reduce_min(distance, axis=1))


def shape_loss(y_true, y_pred):
    return tf.map_fn(nearest, (y_true, y_pred), fn_output_signature=tf.float32)


@program
def with_a_loss_of_its_own():
    model = keras.Sequential([layers.Dense(6)])
    model.compile("sgd", shape_loss)
    model.fit(RNG.random((960, 4), "float32"), RNG.random((960, 6), "float32"), batch_size=48, epochs=2, verbose=0)
