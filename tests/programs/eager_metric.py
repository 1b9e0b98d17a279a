"""A metric that needs values, and so run_eagerly=True."""

import keras
import numpy as np

from programs import program


def hits(y_true, y_pred):
    return sum(1 for a, b in zip(y_true.numpy().ravel(), y_pred.numpy().ravel(), strict=True) if (a > 0) == (b > 0))


@program
def fit_with_metric():
    model = keras.Sequential([*[keras.layers.Dense(64, activation="tanh") for _ in range(8)], keras.layers.Dense(4)])
    model.compile("sgd", "mse", metrics=[hits], run_eagerly=True)
    model.fit(np.ones((320, 8), "float32"), np.ones((320, 4), "float32"), batch_size=8, verbose=0)
