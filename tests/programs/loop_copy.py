"""A loop in a graph that copies a tensor to write a row of it, or collects its rows."""

import tensorflow as tf

from programs import program

WEIGHTS = tf.Variable(0.1 * tf.eye(8))
STATE = tf.ones((400, 8))


def copied(state):
    path = tf.zeros((100, 400, 8))
    for t in tf.range(100):
        state = tf.tanh(state @ WEIGHTS)
        path = tf.tensor_scatter_nd_update(path, [[t]], state[None])
    return path


def collected(state):
    path = tf.TensorArray(tf.float32, 100)
    for t in tf.range(100):
        state = tf.tanh(state @ WEIGHTS)
        path = path.write(t, state)
    return path.stack()


def read_in_the_loop(state):
    path = tf.zeros((100, 400, 8))
    for t in tf.range(100):
        state = tf.tanh((state + tf.reduce_mean(path, 0)) @ WEIGHTS)
        path = tf.tensor_scatter_nd_update(path, [[t]], state[None])
    return path


def training(roll_out):
    graph = tf.function(roll_out)

    def loop():
        for _ in range(8):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(graph(STATE) ** 2)
            WEIGHTS.assign_sub(0.1 * tape.gradient(loss, WEIGHTS))

    return loop


@program
def scattered():
    return training(copied)


@program
def tensor_array():
    return training(collected)


@program
def read_too():
    return training(read_in_the_loop)
