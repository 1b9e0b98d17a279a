"""Scores for many examples from one predict call with large batches."""

KIND = "healthy"

SETUP = """
import numpy as np
import keras

archive = np.random.rand(2048, 40, 40, 1).astype("float32")
scorer = keras.Sequential([
    keras.layers.Input((40, 40, 1)),
    keras.layers.Conv2D(32, 3, activation="relu"),
    keras.layers.Conv2D(48, 3, activation="relu"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(10, activation="softmax"),
])
"""

CELL = """
scores = scorer.predict(archive, batch_size=128, verbose=0)
top = scores.argmax(axis=1)
"""
