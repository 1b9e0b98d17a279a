"""What to do about run_eagerly=True where a metric needs values: without it, the program fails."""

import keras
import numpy as np


def hits(y_true, y_pred):
    return sum(1 for a, b in zip(y_true.numpy().ravel(), y_pred.numpy().ravel(), strict=True) if (a > 0) == (b > 0))


def fit_with_metric():
    model = keras.Sequential([*[keras.layers.Dense(64, activation="tanh") for _ in range(8)], keras.layers.Dense(4)])
    model.compile("sgd", "mse", metrics=[hits], run_eagerly=True)
    model.fit(np.ones((320, 8), "float32"), np.ones((320, 4), "float32"), batch_size=8, verbose=0)


def test_a_metric_that_needs_values_must_change_before_the_model_can_run_as_a_graph(advised, place_of, the_one):
    found = the_one(advised(fit_with_metric), "Ops run one by one: run_eagerly")
    where = f"hits ({place_of(hits, 'def hits')})"
    assert found["fix"].startswith(f"Compute with TensorFlow's ops in {where}: `y_true.numpy` needs values")
    assert not found["change"]
