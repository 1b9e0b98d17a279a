"""A callback that collects garbage after every batch, against a leak."""

KIND = "gc.collect() after every batch"

SETUP = """
import gc
import pandas as pd, numpy as np
import tensorflow as tf

frame = pd.DataFrame(np.random.rand(1280, 20))
target = (frame.sum(axis=1) > 10).astype("int32")
"""

CELL = """
class ClearMemory(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        gc.collect()

mdl = tf.keras.models.Sequential([
    tf.keras.layers.Input(shape=(20,)),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dropout(0.2),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
mdl.compile(loss="binary_crossentropy", optimizer="adam")
mdl.fit(frame.values, target.values, epochs=2, batch_size=128, verbose=0, callbacks=[ClearMemory()])
"""

FIXED = CELL.replace("on_train_batch_end", "on_epoch_end")

RULES = ("slow-callback",)
PLACES = ("ClearMemory",)
