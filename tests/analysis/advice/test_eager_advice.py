"""Which function is told to become a tf.function where ops run one by one."""

import keras
import numpy as np
import tensorflow as tf


def counted(size):
    return sum(k % 7 for k in range(size))


def batch(size):
    sizes = np.arange(200_000) + size
    return sizes[0] + counted(size)


def turn(weights):
    for _ in range(20):
        weights.assign(tf.tanh(weights) * 1.01)


def test_it_is_the_function_that_runs_the_ops_not_one_that_computes_in_python(advised, place_of, the_one):
    weights = tf.Variable(tf.ones((32, 32)))

    def loop():
        for _ in range(40):
            batch(150_000)
            turn(weights)

    eager = the_one(advised(loop), "Ops run one by one")
    assert eager["place"] == place_of(turn, "def turn")
    assert eager["change"] == "@tf.function\ndef turn(weights):"


def test_without_steps_the_evidence_speaks_of_none(advised, the_one):
    weights = tf.Variable(tf.ones((32, 32)))
    eager = the_one(advised(lambda: [turn(weights) for _ in range(20)]), "Ops run one by one")
    assert "in each step" not in eager["evidence"]


def test_a_model_that_a_line_calls_is_told_to_be_traced_beside_a_function_that_is(advised, place_of, the_one):
    net = keras.Sequential([keras.layers.Dense(8) for _ in range(4)])

    @tf.function
    def train(x):
        return tf.reduce_sum(x @ tf.ones((4, 4)))

    def act():
        for frame in range(150):
            _ = int(tf.argmax(net(np.ones((1, 4), "float32"))[0]))
            if frame % 4 == 0:
                train(tf.ones((4, 4)))

    eager = the_one(advised(act), "Ops run one by one")
    assert eager["place"] == place_of(act, "argmax")
    assert eager["fix"].startswith("Call a traced form of it: `traced = tf.function(net)` before the loop")
