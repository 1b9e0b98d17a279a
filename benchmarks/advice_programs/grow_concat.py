"""Features of all batches joined to an array that grows."""

KIND = "an array that grows by np.concatenate in each step"

SETUP = """
import numpy as np
import tensorflow as tf

docs = np.random.rand(8000, 64).astype("float32")
docs = tf.data.Dataset.from_tensor_slices(docs).batch(20).prefetch(tf.data.AUTOTUNE)
ff = tf.keras.Sequential([
    tf.keras.layers.InputLayer(shape=(64,)),
    tf.keras.layers.Dense(128, activation="relu"),
    tf.keras.layers.Dense(1024),
])
extract = tf.function(ff)
"""

CELL = """
all_feats = np.zeros((0, 1024), dtype="float32")
for b in docs:
    feats = extract(b).numpy()
    all_feats = np.concatenate([all_feats, feats], axis=0)
print(all_feats.shape)
"""

FIXED = """
parts = []
for b in docs:
    feats = extract(b).numpy()
    parts.append(feats)
all_feats = np.concatenate(parts, axis=0)
print(all_feats.shape)
"""

RULES = ("python-in-loop", "grown-by-concatenation")
PLACES = ("np.concatenate(",)
