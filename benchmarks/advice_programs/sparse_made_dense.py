"""Bags of words that are sparse, and that each step makes dense before it multiplies them."""

KIND = "a sparse matrix made dense"

SETUP = """
import numpy as np
import tensorflow as tf

VOCAB, HID, BS = 20_000, 64, 128
rng = np.random.default_rng(7)

def doc_batch():
    words = np.sort(np.stack([rng.choice(VOCAB, 30, replace=False) for _ in range(BS)]), 1)
    rows = np.repeat(np.arange(BS), 30)
    docs = tf.sparse.SparseTensor(np.stack([rows, words.ravel()], 1), np.ones(BS * 30, np.float32), [BS, VOCAB])
    return docs, tf.constant(rng.integers(0, 20, BS))

batches = [doc_batch() for _ in range(30)]
W1 = tf.Variable(tf.random.truncated_normal([VOCAB, HID], stddev=0.02))
W2 = tf.Variable(tf.random.truncated_normal([HID, 20], stddev=0.1))

@tf.function
def bow_step(docs, topic):
    with tf.GradientTape() as tape:
        dense = tf.sparse.to_dense(docs)
        h = tf.nn.relu(tf.matmul(dense, W1))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=topic, logits=h @ W2))
    for w, g in zip((W1, W2), tape.gradient(loss, (W1, W2))):
        w.assign_sub(0.1 * g)
    return loss
"""

CELL = """
for epoch in range(2):
    for docs, topic in batches:
        loss = bow_step(docs, topic)
print(loss.numpy())
"""

FIXED = """
@tf.function
def fast_step(docs, topic):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(tf.sparse.sparse_dense_matmul(docs, W1))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=topic, logits=h @ W2))
    for w, g in zip((W1, W2), tape.gradient(loss, (W1, W2))):
        w.assign_sub(0.1 * g)
    return loss

for epoch in range(2):
    for docs, topic in batches:
        loss = fast_step(docs, topic)
print(loss.numpy())
"""

RULES = ("sparse-made-dense",)
PLACES = ("dense = tf.sparse.to_dense", "tf.matmul(dense")
