"""What to do about a recurrent layer: its time steps cost more than its units."""

import keras
import numpy as np

X, Y = np.ones((2048, 48, 3), "float32"), np.ones((2048, 1), "float32")


def fit():
    model = keras.Sequential([keras.layers.Input((48, 3)), keras.layers.GRU(32), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(X, Y, batch_size=512, epochs=2, verbose=0)


def test_a_recurrent_layer_is_told_to_take_fewer_time_steps(advised, the_one):
    found = the_one(advised(fit), "The layer gru_cell takes most of each step")
    assert found["fix"].endswith("Its ops run anew for each time step: take fewer of these, or join several to one.")
