"""A softmax over very many classes is told with its layer; one over few classes is not."""

import keras
import numpy as np

BEGIN = "A softmax over"
WORDS = np.arange(320) % 7


def words(classes, loss, targets):
    def program():
        model = keras.Sequential([keras.layers.Embedding(100, 16), keras.layers.Dense(classes, name="scores")])
        model.compile("sgd", loss)
        model.fit(WORDS, targets, batch_size=64, epochs=2, verbose=0)

    return program


def test_many_classes(advised, place_of, the_one):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    table = advised(words(30_000, loss, WORDS))
    found = the_one(table, BEGIN)
    assert found["finding"].startswith("A softmax over 30,000 classes takes ")
    assert found["finding"].endswith("of each step: the Dense layer scores")
    assert found["place"] == place_of(words, "Dense(classes")
    assert "num_classes=30000" in found["fix"]
    assert "sparse_categorical_crossentropy" not in found["evidence"]
    assert 0 < found["gain_low_percent"] < found["gain_high_percent"] <= 100
    assert not table["finding"].str.startswith("The layer ").any()


def test_targets_that_are_vectors(advised, the_one):
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    table = advised(words(20_000, loss, np.eye(20_000, dtype="float32")[WORDS]))
    assert "sparse_categorical_crossentropy" in the_one(table, BEGIN)["evidence"]


def test_few_classes(advised):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    assert not advised(words(1000, loss, WORDS))["finding"].str.startswith(BEGIN).any()
