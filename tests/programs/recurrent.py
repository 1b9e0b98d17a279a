"""Recurrent layers of several sizes."""

import keras
import numpy as np

from programs import program

STEPS = 6


def fit(model, times, batch=16):
    x = np.ones((STEPS * batch, times, 8), "float32")
    model.fit(x, np.ones((len(x), 1), "float32"), batch_size=batch, verbose=0)


@program
def stacked():
    low, top = keras.layers.LSTM(16, return_sequences=True, name="low"), keras.layers.GRU(8, name="top")
    model = keras.Sequential([low, top, keras.layers.Dense(1, name="out")])
    model.compile("sgd", "mse")
    return lambda: fit(model, 40)


@program
def one_example():
    model = keras.Sequential([keras.layers.LSTM(16)])
    model.compile("sgd", "mse")
    return lambda: fit(model, 40, batch=1)


@program
def large():
    model = keras.Sequential([keras.layers.GRU(384), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return lambda: fit(model, 12, batch=128)


@program
def with_xla():
    model = keras.Sequential([keras.layers.SimpleRNN(8)])
    model.compile("sgd", "mse", jit_compile=True)
    return lambda: fit(model, 40)


@program
def unrolled():
    model = keras.Sequential([keras.layers.SimpleRNN(8, unroll=True)])
    model.compile("sgd", "mse")
    return lambda: fit(model, 10)


@program(warm_up=False)
def at_each_time_step():
    rows = np.ones((64, 48, 24, 2), "float32")
    layers = [
        keras.layers.TimeDistributed(keras.layers.Conv1D(8, 3, activation="relu"), name=f"rows{n}") for n in (1, 2)
    ]
    model = keras.Sequential([keras.Input((48, 24, 2)), *layers, keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return lambda: model.fit(rows, rows[:, 0, 0, :1], verbose=0)
