"""The whole model saved every ten batches."""

KIND = "checkpoint every few batches"

SETUP = """
import numpy as np
import tensorflow as tf

features = np.random.uniform(size=(5000, 100)).astype(np.float32)
targets = features @ np.random.uniform(size=(100, 3)).astype(np.float32)

inputs = tf.keras.Input(shape=(100,))
x = inputs
for units in (256, 256, 128):
    x = tf.keras.layers.Dense(units, activation="gelu")(x)
    x = tf.keras.layers.LayerNormalization()(x)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(3)(x))
model.compile(tf.keras.optimizers.Adam(), loss="mse")
"""

CELL = """
checkpoint = tf.keras.callbacks.ModelCheckpoint("best.keras", save_freq=10)
early = tf.keras.callbacks.EarlyStopping(monitor="loss", patience=3)
model.fit(features, targets, batch_size=50, epochs=2, callbacks=[checkpoint, early], verbose=0)
"""

FIXED = CELL.replace("save_freq=10", 'save_freq="epoch"')

RULES = ("slow-callback",)
PLACES = ("ModelCheckpoint", "save_freq")
