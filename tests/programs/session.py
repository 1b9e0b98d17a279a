"""Sessions of TensorFlow 1 in a loop."""

import numpy as np
import tensorflow as tf

from programs import program

tf1 = tf.compat.v1


def growing(session, x, loss, train):
    for _ in range(150):
        session.run(train, {x: np.ones((16, 8), "float32")})
        session.run(tf1.sqrt(loss), {x: np.ones((16, 8), "float32")})


def running(session, x, loss, train):
    for _ in range(150):
        session.run([train, loss], {x: np.ones((16, 8), "float32")})


def apart(session, x, loss, train):
    for k in range(300):
        feed = {x: np.full((2048, 8), k, "float32")}
        session.run(train, feed)
        value = session.run(loss, feed)
    return value


def training(run):
    """Return a function that gives ``run`` a session, a placeholder, a loss and what trains."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf1.placeholder(tf.float32, [None, 8])
        weights = tf1.get_variable("weights", [8, 1])
        loss = tf1.reduce_mean(tf1.square(tf1.matmul(x, weights)))
        train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        session = tf1.Session()
        session.run(tf1.global_variables_initializer())

    def in_the_graph():
        with graph.as_default():
            run(session, x, loss, train)

    return in_the_graph


@program(warm_up=False)
def growing_graph():
    return training(growing)


@program(warm_up=False)
def graph_that_runs():
    return training(running)


@program(warm_up=False)
def runs_fed_the_same():
    return training(apart)
