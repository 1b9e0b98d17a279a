"""A table as NumPy arrays, in large batches, with a validation split."""

KIND = "healthy"

SETUP = """
import numpy as np
import pandas as pd
import keras

frame = pd.DataFrame(np.random.randn(40960, 64)).add_prefix("x")
frame["label"] = (frame.sum(axis=1) > 0).astype("int32")

def make_model():
    inputs = keras.Input((64,))
    x = keras.layers.Dense(768, activation="relu")(inputs)
    x = keras.layers.Dense(768, activation="relu")(x)
    return keras.Model(inputs, keras.layers.Dense(2, activation="softmax")(x))

model = make_model()
model.compile(keras.optimizers.Adam(3e-4), "sparse_categorical_crossentropy")
features, label = frame.drop(columns="label").to_numpy("float32"), frame["label"].to_numpy()
"""

CELL = """
model.fit(features, label, batch_size=2048, epochs=2, validation_split=0.2, verbose=0)
"""
