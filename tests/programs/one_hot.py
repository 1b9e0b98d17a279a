"""Products with one-hot vectors and with a sparse matrix."""

import tensorflow as tf

from programs import program

NODES = 1500
EDGES = tf.random.uniform((2, 3000), 0, NODES, tf.int32, seed=1)
FEATURES = tf.random.normal((NODES, 16), seed=2)


def pass_on(features):
    senders = tf.one_hot(EDGES[0], NODES)
    receivers = tf.one_hot(EDGES[1], NODES)
    messages = tf.nn.relu(tf.matmul(senders, features))
    return tf.matmul(receivers, messages, transpose_a=True)


WORDS = tf.sparse.from_dense(tf.one_hot(tf.random.uniform((64,), 0, 20_000, tf.int32, seed=3), 20_000))
WEIGHTS = tf.random.normal((20_000, 16), seed=4)


@tf.function
def encode(words):
    counts = tf.sparse.to_dense(words)
    return tf.nn.relu(tf.matmul(counts, WEIGHTS))


@program
def computed_rows():
    step = tf.function(pass_on)
    return lambda: [step(FEATURES) for _ in range(20)]


@program
def sparse_made_dense():
    return lambda: [encode(WORDS) for _ in range(20)]
