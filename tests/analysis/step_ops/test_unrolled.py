"""A Python loop in a traced function is told by its line; a loop of the graph, and one around the function, are not."""

import inspect

import pytest
import tensorflow as tf

import tfprof_nb as tp
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.step_ops.unrolled import unrolled_loop


def in_python(x):
    state = x[:, 0]
    for t in range(20):
        state = 0.9 * tf.tanh(state) + x[:, t]
    return state


def in_the_graph(x):
    state = x[:, 0]
    for t in tf.range(20):
        state = 0.9 * tf.tanh(state) + x[:, t]
    return state


def layers_of_their_own(x):
    for activate in [tf.tanh, tf.sin, tf.cos, tf.sigmoid] * 5:
        x = 0.9 * activate(x) + 1.0
    return x


@pytest.fixture
def found():
    """The loop that is found in a program which calls a function in a loop."""

    def find(function):
        step = tf.function(function)
        with tp.profile() as p:
            for _ in range(30):
                step(tf.ones((4, 20)))
        return unrolled_loop(p._step_ops, Code(p.data.texts))

    return find


def test_a_loop_of_python_is_unrolled(found):
    loop = found(in_python)
    lines, first = inspect.getsourcelines(in_python)
    assert loop.line == first + next(k for k, line in enumerate(lines) if "for t" in line)
    assert loop.text == "for t in range(20):"
    assert loop.share > 0.5


@pytest.mark.parametrize("function", [in_the_graph, layers_of_their_own])
def test_a_loop_of_the_graph_and_one_that_calls_another_layer_each_time_is_not(found, function):
    assert found(function) is None
