"""Convolutions over the vectors of a sentence's words."""

import keras
import numpy as np
from keras import layers

from programs import program

WORDS = np.random.default_rng(0).integers(0, 500, (256, 24))
RIGHT = np.ones((256, 1), "float32")


def reading(*convolution):
    model = keras.Sequential([keras.Input((24,)), layers.Embedding(500, 32), *convolution, layers.Dense(1)])
    model.compile("adam", "mse")
    return lambda: model.fit(WORDS, RIGHT, batch_size=32, epochs=2, verbose=0)


@program
def whole_width():
    as_image = layers.Reshape((24, 32, 1))
    return reading(as_image, layers.Conv2D(16, (3, 32), activation="relu"), layers.GlobalMaxPooling2D())


@program
def along_words():
    return reading(layers.Conv1D(16, 3, activation="relu"), layers.GlobalMaxPooling1D())


@program
def of_image():
    as_image = layers.Reshape((24, 32, 1))
    return reading(as_image, layers.Conv2D(16, 3, activation="relu"), layers.GlobalMaxPooling2D())


@program
def without_gradient():
    vectors = np.random.default_rng(0).normal(size=(256, 24, 32, 1)).astype("float32")
    model = keras.Sequential([keras.Input((24, 32, 1)), layers.Conv2D(16, (3, 32)), layers.Flatten(), layers.Dense(1)])
    model.compile("adam", "mse")
    return lambda: model.fit(vectors, RIGHT, batch_size=32, epochs=2, verbose=0)
