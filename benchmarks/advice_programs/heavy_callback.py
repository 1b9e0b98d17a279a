"""A callback that sorts all weights after each batch, for their quantiles."""

KIND = "heavy callback after each batch"

SETUP = """
import keras
import numpy as np
from keras import layers

x_train = np.random.rand(4096, 64).astype("float32")
y_train = (x_train[:, :1] > 0.5).astype("float32")
model = keras.Sequential([
    keras.Input(shape=(64,)),
    layers.Dense(256, activation="relu"),
    layers.Dense(128, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
"""

CELL = """
class WeightQuantiles(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.quantiles = []

    def on_train_batch_end(self, batch, logs=None):
        weights = np.concatenate([w.ravel() for w in self.model.get_weights()])
        self.quantiles.append(np.quantile(np.sort(weights), np.linspace(0, 1, 101)))

report = WeightQuantiles()
model.fit(x_train, y_train, batch_size=64, epochs=3, callbacks=[report], verbose=0)
"""

FIXED = CELL.replace("on_train_batch_end(self, batch", "on_epoch_end(self, epoch")

RULES = ("slow-callback",)
PLACES = ("on_train_batch_end", "WeightQuantiles")
