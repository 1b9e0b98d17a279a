"""Images and a convolutional network in double precision."""

KIND = "a model in float64"

SETUP = """
import numpy as np
import keras
from keras import layers
keras.backend.set_floatx("float64")

train_x = np.random.rand(160, 32, 32, 3)
train_y = np.random.randint(0, 10, 160)

def get_model():
    inputs = keras.Input((32, 32, 3))
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(inputs)
    x = layers.Conv2D(64, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(64, 3, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling2D()(x)
    outputs = layers.Dense(10)(x)
    return keras.Model(inputs, outputs)
"""

CELL = """
model = get_model()
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train_x, train_y, batch_size=32, epochs=2, verbose=2)
"""

FIXED = f"""
keras.config.set_dtype_policy("float32")
keras.backend.set_floatx("float32")
{CELL}
keras.config.set_dtype_policy("float64")
keras.backend.set_floatx("float64")
"""

RULES = ("float64",)
PLACES = ("set_floatx(",)
