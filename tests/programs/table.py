"""Optimizers and penalties that go through all rows of a table."""

import keras
import numpy as np
import tensorflow as tf

from programs import program

WORDS, LABELS = np.zeros((64, 10), "int32"), np.zeros((64, 1), "float32")


def learn(optimizer, rows=100_000, regularizer=None):
    def fit():
        model = keras.Sequential(
            [
                keras.layers.Embedding(rows, 32, embeddings_regularizer=regularizer),
                keras.layers.Flatten(),
                keras.layers.Dense(1),
            ]
        )
        model.compile(optimizer(), "mse")
        model.fit(WORDS, LABELS, batch_size=8, epochs=2, verbose=0)

    return fit


TABLE = tf.Variable(tf.random.uniform((100_000, 32), seed=1))
PAIRS = tf.random.uniform((2, 64), 0, 100_000, tf.int32, seed=2)


@tf.function
def penalised(pairs):
    with tf.GradientTape() as tape:
        score = tf.reduce_sum(tf.gather(TABLE, pairs[0]) * tf.gather(TABLE, pairs[1]))
        loss = score + 1e-6 * tf.nn.l2_loss(TABLE)
    TABLE.assign_sub(0.1 * tf.convert_to_tensor(tape.gradient(loss, TABLE)))


@tf.function
def multiplied(pairs):
    with tf.GradientTape() as tape:
        score = tf.reduce_sum(tf.gather(TABLE, pairs[0]) * tf.gather(TABLE, pairs[1]))
    TABLE.assign_sub(0.1 * tf.convert_to_tensor(tape.gradient(score, TABLE)))


@program
def adam():
    return learn(keras.optimizers.Adam)


@program
def adam_of_20_000_rows():
    return learn(keras.optimizers.Adam, rows=20_000)


@program
def penalty():
    return learn(keras.optimizers.SGD, regularizer="l2")


@program
def sgd():
    return learn(keras.optimizers.SGD)


@program
def small_table():
    return learn(keras.optimizers.Adam, rows=500)


@program
def penalty_in_a_loop():
    return lambda: [penalised(PAIRS) for _ in range(10)]


@program
def product_of_rows():
    return lambda: [multiplied(PAIRS) for _ in range(10)]
