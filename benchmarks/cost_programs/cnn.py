"""A small convolutional classifier of digits."""

import keras
import numpy as np

x, y = np.random.rand(6400, 28, 28, 1).astype("float32"), np.random.randint(0, 10, 6400)
layers = keras.layers
model = keras.Sequential(
    [
        *(layers.Conv2D(16, 3, activation="relu"), layers.MaxPooling2D()),
        *(layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D()),
        *(layers.Flatten(), layers.Dense(10)),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])


def cell():
    model.fit(x, y, epochs=4, validation_split=0.1, verbose=0)
