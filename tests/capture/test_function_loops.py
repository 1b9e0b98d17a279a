"""Loops in the user's functions: their passes are steps, and other code runs as if nobody watched."""

import sys
import time

import pytest
import tensorflow as tf

import tfprof_nb as tp

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")


def work(x):
    return tf.linalg.matmul(x, x) / 300.0


def train(passes):
    x = tf.random.normal((300, 300))
    for _ in range(passes):
        for _ in range(2):
            x = work(x)
        x = work(x)
    return x


def marks(profile):
    events = profile.events
    return events.loc[events["name"].astype(str).str.startswith("loop line "), "name"].astype(str).value_counts()


def test_the_passes_of_an_eager_loop_in_a_function_are_steps():
    train(1)
    with tp.profile() as p:
        train(12)
    assert p.steps.summary["source"] == "inferred"
    assert len(p.steps.table) == 12
    assert set(p.steps.table["step_name"]) == {"pass"}
    assert "each pass of the loop at line 20 of train counts as a step" in p.steps.notes[0]
    assert sys.monitoring.get_tool(2) is None


def test_a_while_loop_and_one_that_continues():
    def run():
        left, x = 14, tf.random.normal((300, 300))
        while left:
            left -= 1
            x = work(x)
            if left % 2:
                continue
            x = work(x)

    work(tf.ones((300, 300)))
    with tp.profile() as p:
        run()
    assert len(p.steps.table) == 14


def test_each_time_that_a_loop_is_entered_it_begins_anew():
    train(1)
    with tp.profile() as p:
        for _ in range(3):
            train(4)
    assert len(p.steps.table) == 12


def test_the_loop_of_the_function_that_captures():
    x = work(tf.random.normal((300, 300)))
    with tp.profile() as p:
        for _ in range(10):
            x = work(x)
            x = work(x)
    assert len(p.steps.table) == 10


def count(upto):
    total = 0
    for number in range(upto):
        if number % 3:
            total += number
    return total


def test_loops_of_short_passes_are_left_alone():
    def clocked():
        began = time.thread_time()
        count(2_000_000)
        return time.thread_time() - began

    alone = min(clocked() for _ in range(5))
    with tp.profile() as p:
        watched = min(clocked() for _ in range(5))
    assert marks(p).sum() <= 110
    assert watched < 3 * alone


def few():
    total = 0
    for number in range(3):
        total += number
        total -= 1
    return total


def test_a_function_of_short_loops_that_is_called_often_is_left_alone():
    def clocked():
        began = time.thread_time()
        for _ in range(100_000):
            few()
        return time.thread_time() - began

    alone = min(clocked() for _ in range(5))
    with tp.profile() as p:
        watched = min(clocked() for _ in range(5))
    assert marks(p).get("loop line few:99", 0) < 200
    assert watched < 3 * alone


def test_an_error_in_a_loop_is_that_of_the_program():
    def fail():
        for k in range(5):
            work(tf.ones((3, 3)))
            1 / (3 - k)

    with pytest.raises(ZeroDivisionError), tp.profile() as p:
        fail()
    assert marks(p).sum() == 4
    assert sys.monitoring.get_tool(2) is None


def test_another_tool_stays_in_its_place():
    sys.monitoring.use_tool_id(2, "someone")
    try:
        with tp.profile() as p:
            train(3)
        assert sys.monitoring.get_tool(2) == "someone"
        assert marks(p)["loop line train:20"] == 5
    finally:
        sys.monitoring.free_tool_id(2)
