"""Two blocks of attention over short sequences."""

import keras
import numpy as np

x, y = np.random.randint(0, 1000, (1600, 64)), np.random.randint(0, 2, 1600)
tokens = keras.Input((64,))
hidden = keras.layers.Embedding(1000, 64)(tokens)
for _ in range(2):
    hidden = keras.layers.LayerNormalization()(hidden + keras.layers.MultiHeadAttention(4, 16)(hidden, hidden))
    hidden = keras.layers.LayerNormalization()(hidden + keras.layers.Dense(64)(keras.layers.Dense(128, "relu")(hidden)))
model = keras.Model(tokens, keras.layers.Dense(1, "sigmoid")(keras.layers.GlobalAveragePooling1D()(hidden)))
model.compile("adam", "binary_crossentropy")


def cell():
    model.fit(x, y, epochs=4, verbose=0)
