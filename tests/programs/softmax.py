"""Softmaxes over many and few classes."""

import keras
import numpy as np

from programs import program

WORDS = np.arange(320) % 7


def words(classes, loss, targets):
    def fit():
        model = keras.Sequential([keras.layers.Embedding(100, 16), keras.layers.Dense(classes, name="scores")])
        model.compile("sgd", loss)
        model.fit(WORDS, targets, batch_size=64, epochs=2, verbose=0)

    return fit


@program
def many_classes():
    return words(30_000, keras.losses.SparseCategoricalCrossentropy(from_logits=True), WORDS)


@program
def vector_targets():
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    return words(20_000, loss, np.eye(20_000, dtype="float32")[WORDS])


@program
def few_classes():
    return words(1000, keras.losses.SparseCategoricalCrossentropy(from_logits=True), WORDS)
