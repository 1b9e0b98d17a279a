"""Python functions that a step's graph calls, and those of pipelines."""

import time

import numpy as np
import tensorflow as tf

from programs import program

X = np.ones((24, 8), "float32")
BATCHES = tf.data.Dataset.from_tensor_slices(X).batch(1)


def weighted(batch):
    time.sleep(0.03)
    return batch


def loaded(batch):
    time.sleep(0.03)
    return batch


def doubled(batch):
    for _ in range(40):
        batch = tf.linalg.matmul(batch, tf.eye(8))
    return batch


@tf.function
def with_numpy(x):
    return tf.reduce_sum(tf.numpy_function(weighted, [x], tf.float32))


@tf.function
def with_ops(x):
    return tf.reduce_sum(tf.py_function(doubled, [x], tf.float32))


@tf.function
def plain(x):
    return tf.reduce_sum(x)


def loop(step, data):
    for x in data:
        step(x)


@program
def numpy_in_step():
    loop(with_numpy, BATCHES)


@program
def ops_in_step():
    loop(with_ops, BATCHES)


@program
def numpy_in_pipeline():
    data = BATCHES.map(lambda x: tf.numpy_function(loaded, [x], tf.float32))
    return lambda: loop(plain, data)


@program
def numpy_in_both():
    data = BATCHES.map(lambda x: tf.ensure_shape(tf.numpy_function(loaded, [x], tf.float32), [1, 8]))
    return lambda: loop(with_numpy, data)
