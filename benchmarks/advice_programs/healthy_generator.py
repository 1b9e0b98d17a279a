"""A Python generator that is quick beside the step, and prefetched."""

KIND = "healthy"

SETUP = """
import numpy as np
import tensorflow as tf

stories = np.random.randint(1, 1000, (640, 80)).astype("int32")

def batches():
    order = np.random.permutation(len(stories))
    for i in range(0, len(order), 32):
        chosen = stories[order[i:i + 32]]
        yield chosen, chosen[:, 0] % 7

signature = (tf.TensorSpec((None, 80), tf.int32), tf.TensorSpec((None,), tf.int32))
data = tf.data.Dataset.from_generator(batches, output_signature=signature).prefetch(tf.data.AUTOTUNE)

reader = tf.keras.Sequential([
    tf.keras.layers.Embedding(1000, 128),
    tf.keras.layers.Conv1D(256, 5, activation="relu"),
    tf.keras.layers.Conv1D(256, 5, activation="relu"),
    tf.keras.layers.GlobalMaxPooling1D(),
    tf.keras.layers.Dense(7),
])
reader.compile("rmsprop", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
"""

CELL = """
reader.fit(data, epochs=1, verbose=0)
"""
