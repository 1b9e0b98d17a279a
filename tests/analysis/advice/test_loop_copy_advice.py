"""A tensor of a loop in a graph that each pass copies to write one row of it."""

import tensorflow as tf

WEIGHTS = tf.Variable(0.1 * tf.eye(8))
STATE = tf.ones((400, 8))
FINDING = "Each pass of a loop copies a whole tensor to write a part of it"


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


def test_it_is_told_with_the_code_that_collects(advised, place_of, the_one):
    found = the_one(advised(training(copied)), FINDING)
    assert found["place"] == place_of(copied, "tensor_scatter_nd_update")
    assert "A pass writes 3,200 of 320,000 numbers." in found["evidence"]
    for code in ("path = tf.TensorArray(tf.float32, 100)", "path = path.write(t, state)", "path = path.stack()"):
        assert f"`{code}`" in found["fix"]


def test_a_tensor_array_and_a_tensor_that_the_loop_reads_are_not_told(advised):
    for roll_out in (collected, read_in_the_loop):
        assert not advised(training(roll_out))["finding"].str.startswith(FINDING).any()
