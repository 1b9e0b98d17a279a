"""A loop that makes the same tensor in each step, and one that keeps it."""

import numpy as np
import tensorflow as tf

import tfprof_nb as tp
from programs import program

table = np.random.default_rng(0).random((30_000, 64))


@tf.function
def look_up(rows, ids):
    return tf.reduce_sum(tf.gather(rows, ids))


@program
def copying():
    for i in range(30):
        with tp.step(i):
            rows = tf.constant(table, tf.float32)
            look_up(rows, tf.range(4))


@program
def kept():
    rows = tf.constant(table, tf.float32)
    for i in range(30):
        with tp.step(i):
            look_up(rows, tf.range(4))
