"""A table of numbers trained on four rows at a time."""

KIND = "batch of 4"

SETUP = """
import numpy as np
import pandas as pd
from tensorflow import keras

df = pd.DataFrame(np.random.randn(6000, 20), columns=[f"f{i}" for i in range(20)])
df["price"] = df.sum(axis=1) + np.random.randn(6000)

def build_model():
    model = keras.Sequential()
    model.add(keras.layers.Dense(64, activation="relu", input_shape=(20,)))
    model.add(keras.layers.Dense(64, activation="relu"))
    model.add(keras.layers.Dense(1))
    model.compile(loss="mse", optimizer="rmsprop", metrics=["mae"])
    return model

model = build_model()
"""

CELL = """
X = df.drop(columns="price").values
y = df["price"].values
history = model.fit(X, y, batch_size=4, epochs=1, verbose=0)
"""

FIXED = CELL.replace("batch_size=4", "batch_size=64")

RULES = ("small-steps",)
PLACES = ("batch_size=4",)
