"""A model of TensorFlow 1, trained by a session: it reads words with a convolution over their whole vectors."""

import numpy as np
import tensorflow as tf

from programs import program

tf1 = tf.compat.v1
WORDS = np.random.default_rng(0).integers(0, 500, (320, 24))
RIGHT = np.ones((320, 1), "float32")


def reader():
    with tf1.variable_scope("words"):
        table = tf1.get_variable("table", (500, 32), use_resource=False)
        words = tf1.placeholder(tf.int32, (None, 24), name="words")
        vectors = tf.expand_dims(tf.nn.embedding_lookup(table, words), -1)
    with tf1.variable_scope("reader"):
        kernel = tf1.get_variable("kernel", (3, 32, 1, 16), use_resource=False)
        read = tf.nn.conv2d(vectors, kernel, strides=1, padding="VALID")
        most = tf.reduce_max(tf.nn.relu(read), axis=(1, 2))
    with tf1.variable_scope("told"):
        weights = tf1.get_variable("weights", (16, 1), use_resource=False)
        right = tf1.placeholder(tf.float32, (None, 1), name="right")
        loss = tf.reduce_mean(tf.square(most @ weights - right))
    return words, right, loss


@program
def reads_words():
    graph = tf.Graph()
    with graph.as_default():
        words, right, loss = reader()
        train = tf1.train.AdamOptimizer().minimize(loss)
        session = tf1.Session()
        session.run(tf1.global_variables_initializer())

    def in_batches():
        for start in range(0, 320, 32):
            part = slice(start, start + 32)
            session.run(train, {words: WORDS[part], right: RIGHT[part]})
        session.run(loss, {words: WORDS, right: RIGHT})

    return in_batches
