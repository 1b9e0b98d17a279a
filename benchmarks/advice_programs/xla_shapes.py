"""A model that XLA compiles anew for each length of its batches."""

KIND = "jit_compile with batches of many shapes"

SETUP = """
import keras
import numpy as np
import tensorflow as tf

rs = np.random.RandomState(0)
sentences = [rs.randint(1, 500, size=rs.randint(8, 40)) for _ in range(128)]
tags = rs.randint(0, 3, 128)

def sentences_and_tags():
    yield from zip(sentences, tags)

spec = (tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32))
batches = tf.data.Dataset.from_generator(sentences_and_tags, output_signature=spec).padded_batch(16).cache().prefetch(1)
"""

CELL = """
tagger = keras.Sequential([
    keras.layers.Embedding(500, 32),
    keras.layers.Conv1D(32, 3, padding="same", activation="relu"),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(3),
])
tagger.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=True)
tagger.fit(batches, epochs=2, verbose=2)
"""

FIXED = CELL.replace(", jit_compile=True", "")

RULES = ("xla-recompilation",)
PLACES = ("jit_compile=True",)
