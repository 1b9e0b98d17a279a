"""Training with validation, early stopping and one small checkpoint per epoch."""

KIND = "healthy"

SETUP = """
import numpy as np
import tensorflow as tf
from tensorflow import keras

windows = np.random.randn(2880, 64, 16).astype("float32")
nexts = windows[:, -1, :2]

def model_builder(filters=96):
    model = keras.Sequential()
    model.add(keras.Input(shape=(64, 16)))
    for dilation in (1, 2, 4):
        model.add(keras.layers.Conv1D(filters, 3, dilation_rate=dilation, padding="causal", activation="relu"))
    model.add(keras.layers.GlobalAveragePooling1D())
    model.add(keras.layers.Dense(2))
    model.compile(optimizer="adam", loss="mse")
    return model

tcn = model_builder()
train = tf.data.Dataset.from_tensor_slices((windows[:2560], nexts[:2560])).batch(64).prefetch(2)
valid = tf.data.Dataset.from_tensor_slices((windows[2560:], nexts[2560:])).batch(64).prefetch(2)
"""

CELL = """
callbacks = [
    keras.callbacks.ModelCheckpoint("tcn.weights.h5", save_weights_only=True),
    keras.callbacks.EarlyStopping(patience=5),
]
tcn.fit(train, validation_data=valid, epochs=2, callbacks=callbacks, verbose=0)
"""
