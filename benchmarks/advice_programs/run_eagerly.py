"""run_eagerly=True was left in from debugging."""

KIND = "run_eagerly=True"

SETUP = """
import numpy as np
import keras
from keras import layers

tokens = np.random.randint(0, 5000, (1600, 60))
sentiment = np.random.randint(0, 2, (1600, 1))

class Attention(layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 1), initializer="glorot_uniform")

    def call(self, x):
        scores = keras.ops.softmax(keras.ops.matmul(x, self.w), axis=1)
        return keras.ops.sum(scores * x, axis=1)

text = keras.Input((60,), dtype="int32")
h = layers.Embedding(5000, 32)(text)
h = layers.Conv1D(32, 3, activation="relu")(h)
h = layers.Conv1D(32, 3, activation="relu")(h)
h = Attention()(h)
h = layers.Dense(32, "relu")(h)
model = keras.Model(text, layers.Dense(1, "sigmoid")(h))
"""

CELL = """
model.compile(
    optimizer="adam",
    loss="binary_crossentropy",
    metrics=["accuracy"],
    run_eagerly=True,
)
model.fit(tokens, sentiment, batch_size=32, epochs=2, verbose=0)
"""

FIXED = CELL.replace("    run_eagerly=True,\n", "")

RULES = ("eager-ops",)
PLACES = ("run_eagerly",)
