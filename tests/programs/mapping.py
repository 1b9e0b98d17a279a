"""Loops of tf.map_fn."""

import tensorflow as tf

from programs import program

BOXES = tf.random.uniform((200, 4), seed=1)


@tf.function
def area(box):
    width = tf.maximum(box[2] - box[0], 0.0)
    return tf.sqrt(width * tf.maximum(box[3] - box[1], 0.0) + 1e-6)


def areas(boxes):
    return tf.map_fn(area, boxes, fn_output_signature=tf.float32)


@tf.function
def sizes(boxes):
    return tf.reduce_sum(areas(boxes))


@tf.function
def train(weights):
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = tf.reduce_sum(areas(BOXES * weights))
    return tape.gradient(loss, weights)


@tf.function
def pooled(rows):
    return tf.map_fn(lambda row: tf.reduce_mean(tf.sqrt(row)), rows, fn_output_signature=tf.float32)


@program
def forward():
    return lambda: [sizes(BOXES) for _ in range(30)]


@program
def with_gradients():
    return lambda: [train(tf.ones(4)) for _ in range(10)]


@program
def ragged():
    rows = tf.RaggedTensor.from_row_lengths(tf.random.uniform([1200], seed=1), [2, 10] * 100)
    return lambda: [pooled(rows) for _ in range(30)]


@tf.function
def products(tables):
    return tf.reduce_sum(tf.map_fn(lambda table: tf.tanh(table @ table @ table), tables))


@program
def long_ops():
    tables = tf.random.uniform((60, 240, 240), seed=1)
    return lambda: [products(tables) for _ in range(5)]
