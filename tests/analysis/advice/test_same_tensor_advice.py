"""A loop that makes the same tensor in each step."""

import numpy as np
import pytest
import tensorflow as tf

import tfprof_nb as tp

table = np.random.default_rng(0).random((30_000, 64))
NAMED = "The same tensor is made in each step"


@pytest.fixture
def look_up():
    @tf.function
    def look_up(rows, ids):
        return tf.reduce_sum(tf.gather(rows, ids))

    look_up(tf.zeros((30_000, 64)), tf.range(4))
    return look_up


def copying(look_up):
    for i in range(30):
        with tp.step(i):
            rows = tf.constant(table, tf.float32)
            look_up(rows, tf.range(4))


def kept(look_up):
    rows = tf.constant(table, tf.float32)
    for i in range(30):
        with tp.step(i):
            look_up(rows, tf.range(4))


def test_the_line_that_copies_is_named(look_up, place_of, the_one):
    with tp.profile() as p:
        copying(look_up)
    found = the_one(p.advice.table, NAMED)
    assert found["place"] == place_of(copying, "tf.constant")
    assert "`same = tf.constant(table, tf.float32)`" in found["fix"]
    assert p.advice.table["finding"].iloc[0].startswith(NAMED)


def test_a_tensor_that_is_kept_is_not(look_up):
    with tp.profile() as p:
        kept(look_up)
    assert not p.advice.table["finding"].str.startswith(NAMED).any()
