"""A session whose graph grows in the loop is told with the line that adds ops; one that only runs is not."""

import numpy as np
import pytest
import tensorflow as tf

import tfprof_nb as tp

tf1 = tf.compat.v1
BEGIN = "The session's graph grows in each pass of the loop"


@pytest.fixture
def program():
    """A session, a placeholder, a loss and what trains."""
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [None, 8])
        weights = tf1.get_variable("weights", [8, 1])
        loss = tf1.reduce_mean(tf1.square(tf1.matmul(x, weights)))
        train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf1.global_variables_initializer())
        yield session, x, loss, train


def growing(session, x, loss, train):
    for _ in range(150):
        session.run(train, {x: np.ones((16, 8), "float32")})
        session.run(tf1.sqrt(loss), {x: np.ones((16, 8), "float32")})


def running(session, x, loss, train):
    for _ in range(150):
        session.run([train, loss], {x: np.ones((16, 8), "float32")})


def test_the_line_that_adds_ops(program, place_of, the_one):
    with tp.profile() as p:
        growing(*program)
    found = the_one(p.advice.table, BEGIN)
    assert found["place"] == place_of(growing, "tf1.sqrt")
    assert "`op = tf1.sqrt(loss)`" in found["fix"]
    assert "`session.graph.finalize()`" in found["fix"]
    assert not p.advice.table["finding"].str.startswith("Feeding session.run").any()


def test_a_session_that_only_runs(program):
    with tp.profile() as p:
        running(*program)
    assert not p.advice.table["finding"].str.startswith(BEGIN).any()


def apart(session, x, loss, train):
    for k in range(300):
        feed = {x: np.full((2048, 8), k, "float32")}
        session.run(train, feed)
        value = session.run(loss, feed)
    return value


def test_runs_that_are_fed_the_same_are_one(program, place_of, the_one):
    with tp.profile() as p:
        apart(*program)
    found = the_one(p.advice.table, "2 runs of a session are fed the same")
    assert found["place"] == place_of(apart, "session.run(train")
    assert found["change"] == "_, value = session.run([train, loss], feed)"
    assert place_of(apart, "session.run(loss") in found["evidence"]


def test_runs_that_are_fed_other_values_are_not(program):
    with tp.profile() as p:
        growing(*program)
    assert not p.advice.table["finding"].str.contains("are fed the same").any()
