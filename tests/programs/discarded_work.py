"""What a step computes for nothing: values that tf.where throws away, whole sorts, Jacobians of a batch."""

import tensorflow as tf

from programs import program

ROWS = tf.random.normal((256, 256), seed=1)
COUNT = tf.Variable(0)


def score(x):
    for _ in range(6):
        x = tf.tanh(tf.matmul(x, ROWS))
    return tf.reduce_mean(x)


@tf.function
def scored_at_times(x):
    COUNT.assign_add(1)
    return tf.where(COUNT % 10 == 0, score(x), 0.0)


@program
def value_thrown_away():
    for _ in range(20):
        scored_at_times(ROWS)


@tf.function
def masked(x):
    return tf.where(x > 0, tf.matmul(x, ROWS), 0.0)


@program
def choice_per_number():
    for _ in range(20):
        masked(ROWS)


LONG = tf.random.normal((4, 50_000), seed=2)


@tf.function
def nearest(distances):
    order = tf.argsort(distances)
    return order[:, :5]


@program
def sort_for_the_first():
    for _ in range(20):
        nearest(LONG)


@tf.function
def ranks(distances):
    return tf.argsort(tf.argsort(distances))


@program
def sort_of_all():
    for _ in range(10):
        ranks(LONG)


WEIGHTS = tf.random.normal((1, 64), seed=3)


@tf.function
def slopes(x):
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = tf.reduce_sum(tf.tanh(tf.matmul(x, WEIGHTS)), axis=1, keepdims=True)
    all_pairs = inner.jacobian(y, x)
    return tf.linalg.diag_part(all_pairs[:, 0, :, 0])


@program
def diagonal_jacobian():
    x = tf.random.normal((200, 1), seed=4)
    return lambda: [slopes(x) for _ in range(20)]


KERNEL = tf.Variable(tf.random.normal((64, 8), seed=5))


@tf.function
def by_weights(x):
    with tf.GradientTape() as tape:
        y = tf.tanh(tf.matmul(x, KERNEL))
    return tape.jacobian(y, KERNEL)


@program
def jacobian_by_weights():
    x = tf.random.normal((64, 64), seed=6)
    return lambda: [by_weights(x) for _ in range(20)]
