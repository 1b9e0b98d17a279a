"""A model trained, compiled again with a small learning rate and trained on, then evaluated and asked."""

KIND = "healthy"

SETUP = """
import numpy as np, keras
from keras import layers

base = keras.Sequential([
    layers.Input((32, 32, 3)),
    layers.Conv2D(32, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(64, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
])
xi = np.random.rand(640, 32, 32, 3).astype("float32")
yi = np.random.randint(0, 5, 640)
"""

CELL = """
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
full = keras.Sequential([base, layers.Dense(5)])
full.compile(keras.optimizers.Adam(1e-3), loss, metrics=["accuracy"])
full.fit(xi, yi, batch_size=64, epochs=2, verbose=0)
full.compile(keras.optimizers.Adam(1e-5), loss, metrics=["accuracy"])
full.fit(xi, yi, batch_size=64, epochs=2, verbose=0)
print(full.evaluate(xi, yi, batch_size=64, verbose=0), full.predict(xi, batch_size=64, verbose=0).shape)
"""
