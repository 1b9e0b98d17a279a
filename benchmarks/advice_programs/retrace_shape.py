"""Sentences padded to the longest of each batch: nearly each batch has a shape of its own."""

KIND = "retracing by shape"

SETUP = """
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
corpus = [rng.integers(1, 3000, rng.integers(10, 90)) for _ in range(600)]
tags = rng.integers(0, 2, 600)

def batches(size=8):
    for i in range(0, len(corpus), size):
        part = corpus[i:i + size]
        longest = max(map(len, part))
        ids = np.zeros((len(part), longest), dtype=np.int32)
        for row, sentence in zip(ids, part):
            row[:len(sentence)] = sentence
        yield ids, tags[i:i + size].astype(np.float32)
"""

CELL = """
embedding = tf.Variable(tf.random.normal((3000, 32), stddev=0.1))
w = tf.Variable(tf.random.normal((32, 1), stddev=0.1))
optimizer = tf.keras.optimizers.Adagrad(0.1)
optimizer.build([embedding, w])

@tf.function
def fit_batch(ids, labels):
    with tf.GradientTape() as tape:
        words = tf.nn.embedding_lookup(embedding, ids)
        mask = tf.cast(ids > 0, tf.float32)[..., None]
        mean = tf.reduce_sum(words * mask, 1) / tf.reduce_sum(mask, 1)
        logits = tf.squeeze(mean @ w, -1)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))
    optimizer.apply_gradients(zip(tape.gradient(loss, [embedding, w]), [embedding, w]))
    return loss

for ids, labels in batches():
    loss = fit_batch(tf.constant(ids), tf.constant(labels))
"""

FIXED = CELL.replace("@tf.function", "@tf.function(reduce_retracing=True)")

RULES = ("retracing-by-shape",)
PLACES = ("fit_batch",)
