"""Layers that rotate and zoom large pictures, in front of the layer that makes these small."""

KIND = "augmentation of large images in the model"

SETUP = """
import numpy as np
import tensorflow as tf

L = tf.keras.layers
photos = np.random.randint(0, 255, (256, 160, 160, 3), dtype="uint8")
kinds = np.random.randint(0, 4, 256)
"""

CELL = """
augment = tf.keras.Sequential([
    L.RandomRotation(0.1),
    L.RandomZoom(0.2),
    L.RandomTranslation(0.1, 0.1),
    L.Resizing(64, 64),
    L.Rescaling(1 / 255),
])

def net():
    i = L.Input((160, 160, 3))
    x = augment(i)
    x = L.Conv2D(16, 3, strides=2, activation="relu")(x)
    x = L.Conv2D(32, 3, strides=2, activation="relu")(x)
    x = L.GlobalAveragePooling2D()(x)
    return tf.keras.Model(i, L.Dense(4)(x))

model = net()
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(photos, kinds, batch_size=32, epochs=3, verbose=2)
"""

FIXED = CELL.replace("    L.Resizing(64, 64),\n", "").replace(
    "    L.RandomRotation", "    L.Resizing(64, 64),\n    L.RandomRotation"
)

RULES = ("image-layers-in-model",)
PLACES = ("L.RandomRotation", "L.RandomZoom", "L.RandomTranslation", "augment = ")
