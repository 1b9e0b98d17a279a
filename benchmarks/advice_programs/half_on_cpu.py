"""A policy for GPUs that stayed in a notebook that now runs on a CPU."""

KIND = "mixed_float16 on a CPU"

SETUP = """
import keras
import numpy as np
from keras import layers, mixed_precision

images = np.random.randint(0, 255, (256, 40, 40, 3)).astype("uint8")
targets = np.random.randint(0, 10, 256)
"""

CELL = """
mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((40, 40, 3))
x = layers.Rescaling(1 / 255)(inputs)
for filters in (32, 64):
    x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling2D()(x)
x = layers.GlobalAveragePooling2D()(x)
cnn = keras.Model(inputs, layers.Dense(10, activation="softmax", dtype="float32")(x))
cnn.compile(loss="sparse_categorical_crossentropy", optimizer="adam")
cnn.fit(images, targets, batch_size=32, epochs=2, verbose=2)
"""

FIXED = CELL.replace("mixed_float16", "float32")

RULES = ("float16-on-cpu",)
PLACES = ("set_global_policy",)
