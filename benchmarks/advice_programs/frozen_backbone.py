"""A frozen network computes the same features of the same pictures in every epoch."""

KIND = "same value in every epoch: a frozen backbone"

SETUP = """
import numpy as np
import tensorflow as tf

photos = np.random.rand(320, 64, 64, 3).astype("float32")
breeds = np.random.randint(0, 6, 320)

def pretrained():
    i = tf.keras.Input((64, 64, 3))
    x = i
    for filters in (32, 64, 96):
        x = tf.keras.layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = tf.keras.layers.MaxPooling2D()(x)
    return tf.keras.Model(i, tf.keras.layers.GlobalAveragePooling2D()(x), name="backbone")

base_model = pretrained()
base_model.trainable = False
"""

CELL = """
inputs = tf.keras.Input(shape=(64, 64, 3))
x = base_model(inputs, training=False)
x = tf.keras.layers.Dropout(0.2)(x)
outputs = tf.keras.layers.Dense(6)(x)
model = tf.keras.Model(inputs, outputs)
model.compile(
    optimizer=tf.keras.optimizers.Adam(0.001),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(photos, breeds, batch_size=32, epochs=5, verbose=0)
"""

FIXED = """
features = base_model.predict(photos, batch_size=32, verbose=0)
inputs = tf.keras.Input(shape=features.shape[1:])
x = tf.keras.layers.Dropout(0.2)(inputs)
outputs = tf.keras.layers.Dense(6)(x)
model = tf.keras.Model(inputs, outputs)
model.compile(
    optimizer=tf.keras.optimizers.Adam(0.001),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(features, breeds, batch_size=32, epochs=5, verbose=0)
"""

RULES = ("frozen-layers-each-epoch",)
PLACES = ("base_model", "backbone")
