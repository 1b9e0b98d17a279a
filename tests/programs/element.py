"""A loop that reads the elements of a tensor."""

import tensorflow as tf

from programs import program

WEIGHTS = tf.Variable(tf.ones((16, 8)))


@tf.function
def scores(x):
    return tf.nn.softmax(x @ WEIGHTS)


@program
def one_by_one():
    for _ in range(8):
        out = scores(tf.ones((150, 16)))
        picked = []
        for i in range(150):
            picked.append(float(out[i, 0]))  # noqa: PERF401  (what a user writes)


@program
def at_once():
    for _ in range(8):
        out = scores(tf.ones((150, 16))).numpy()
        picked = []
        for i in range(150):
            picked.append(float(out[i, 0]))  # noqa: PERF401  (what a user writes)
