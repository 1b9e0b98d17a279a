"""Recurrent layers on a CPU: XLA helps where the ops of their loops are small."""

import keras
import numpy as np
import pytest

FINDING = "Recurrent layers run many small ops"
STEPS = 6


def fit(model, times, batch=16):
    x = np.ones((STEPS * batch, times, 8), "float32")
    model.fit(x, np.ones((len(x), 1), "float32"), batch_size=batch, verbose=0)


def stacked():
    low, top = keras.layers.LSTM(16, return_sequences=True, name="low"), keras.layers.GRU(8, name="top")
    model = keras.Sequential([low, top, keras.layers.Dense(1, name="out")])
    model.compile("sgd", "mse")
    return lambda: fit(model, 40)


def large():
    model = keras.Sequential([keras.layers.GRU(384), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return lambda: fit(model, 12, batch=128)


def with_xla():
    model = keras.Sequential([keras.layers.SimpleRNN(8)])
    model.compile("sgd", "mse", jit_compile=True)
    return lambda: fit(model, 40)


def unrolled():
    model = keras.Sequential([keras.layers.SimpleRNN(8, unroll=True)])
    model.compile("sgd", "mse")
    return lambda: fit(model, 10)


def test_small_ones_are_told_to_use_xla(advised, place_of, the_one):
    found = the_one(advised(stacked()), FINDING)
    assert found["finding"] == f"{FINDING}: low, top"
    assert found["change"] == 'model.compile("sgd", "mse", jit_compile=True)'
    assert found["place"] == place_of(stacked, "model.compile")
    # Compiling would take longer than these few steps.
    assert found["severity"] == "info"
    assert not found["gain_high_percent"] > 0


@pytest.mark.parametrize("program", [large, with_xla, unrolled])
def test_others_are_not(advised, program):
    assert not advised(program())["finding"].str.startswith(FINDING).any()
