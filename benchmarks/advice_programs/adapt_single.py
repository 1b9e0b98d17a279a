"""A text layer that learns its vocabulary from single texts, each by ops of its own."""

KIND = "adapt on a dataset that has no batches"

SETUP = """
import numpy as np
import tensorflow as tf

words = np.array(["alpha", "beta", "gamma", "delta", "net", "layer", "loss", "step"])
reviews = [" ".join(np.random.choice(words, 20)) for _ in range(1500)]
stars = np.random.randint(0, 2, 1500)
raw_train = tf.data.Dataset.from_tensor_slices((reviews, stars))
"""

CELL = """
vectorize = tf.keras.layers.TextVectorization(max_tokens=1000, output_sequence_length=20)
vectorize.adapt(raw_train.map(lambda text, label: text))

sentiment = tf.keras.Sequential([
    tf.keras.layers.Embedding(1000, 16),
    tf.keras.layers.GlobalAveragePooling1D(),
    tf.keras.layers.Dense(1),
])
sentiment.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True))
train = raw_train.batch(32).map(lambda text, label: (vectorize(text), label)).cache().prefetch(1)
sentiment.fit(train, epochs=3, verbose=2)
"""

FIXED = CELL.replace("lambda text, label: text)", "lambda text, label: text).batch(512)")

RULES = ("adapt-small-elements",)
PLACES = ("vectorize.adapt",)
