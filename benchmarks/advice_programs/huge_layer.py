"""Nearly all weights are in the Dense layer behind Flatten."""

KIND = "one huge layer"

SETUP = """
import numpy as np
from keras import Input, Sequential, layers

scans = np.random.rand(160, 64, 64, 1).astype("float32")
findings = np.random.randint(0, 2, 160)
"""

CELL = """
model = Sequential([
    Input(shape=(64, 64, 1)),
    layers.Conv2D(16, 3, padding="same", activation="relu", name="conv"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(512, activation="relu", name="hidden"),
    layers.Dropout(0.5),
    layers.Dense(1, activation="sigmoid", name="score"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(scans, findings, batch_size=16, epochs=2, verbose=0)
"""

FIXED = CELL.replace("layers.Flatten()", "layers.GlobalAveragePooling2D()")

RULES = ("dominant-layer",)
PLACES = ("hidden",)
