"""Lookups in a large table whose rows are computed before or after."""

import tensorflow as tf

from programs import program

TABLE = tf.Variable(tf.random.uniform((100_000, 16), seed=1))
IDS = tf.random.uniform((64,), 0, 100_000, tf.int32, seed=2)


def step(look_up):
    @tf.function
    def one(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(look_up(ids) ** 2)
        gradient = tape.gradient(loss, TABLE)
        if isinstance(gradient, tf.IndexedSlices):
            TABLE.scatter_sub(gradient)
        else:
            TABLE.assign_sub(0.1 * gradient)

    return lambda: [one(IDS) for _ in range(10)]


def computed_first(ids):
    return tf.gather(tf.math.l2_normalize(TABLE, axis=1), ids)


def looked_up_first(ids):
    return tf.math.l2_normalize(tf.gather(TABLE, ids), axis=1)


def computed_before_two(ids):
    rows = tf.math.l2_normalize(TABLE, axis=1)
    first = tf.gather(rows, ids)
    return first + tf.gather(rows, ids[:32] + 1)[:1]


def columns_normalized(ids):
    return tf.gather(tf.math.l2_normalize(TABLE, axis=0), ids)


@program
def normalized_first():
    return step(computed_first)


@program
def looked_up():
    return step(looked_up_first)


@program
def two_lookups():
    return step(computed_before_two)


@program
def by_column():
    return step(columns_normalized)
