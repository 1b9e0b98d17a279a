"""Differences of all pairs of rows."""

import tensorflow as tf

from programs import program

ROWS = tf.random.normal((400, 64), seed=1)


def distances(x):
    difference = x[:, None, :] - x[None, :, :]
    return tf.reduce_sum(tf.square(difference), axis=-1)


def city_blocks(x):
    return tf.reduce_sum(tf.abs(x[:, None, :] - x[None, :, :]), axis=-1)


def loop(function):
    step = tf.function(lambda x: tf.reduce_mean(function(x)))

    def run():
        for _ in range(10):
            step(ROWS)

    return run


@program
def squared():
    return loop(distances)


@program
def absolute():
    return loop(city_blocks)
