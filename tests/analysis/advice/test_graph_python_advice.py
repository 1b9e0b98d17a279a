"""Python functions that a step's graph calls are told from those of pipelines."""

import time

import numpy as np
import pytest
import tensorflow as tf

import tfprof_nb as tp

BEGIN = "The graph calls "
X = np.ones((24, 8), "float32")


def weighted(batch):
    time.sleep(0.03)
    return batch


def loaded(batch):
    time.sleep(0.03)
    return batch


def doubled(batch):
    for _ in range(40):
        batch = tf.linalg.matmul(batch, tf.eye(8))
    return batch


@tf.function
def with_numpy(x):
    return tf.reduce_sum(tf.numpy_function(weighted, [x], tf.float32))


@tf.function
def with_ops(x):
    return tf.reduce_sum(tf.py_function(doubled, [x], tf.float32))


@tf.function
def plain(x):
    return tf.reduce_sum(x)


def loop(step, data):
    for x in data:
        step(x)


def captured(step, data):
    loop(step, data)
    with tp.profile() as p:
        loop(step, data)
    return p


@pytest.fixture
def batches():
    return tf.data.Dataset.from_tensor_slices(X).batch(1)


def test_a_numpy_function_in_the_step_is_named_with_its_line(batches, place_of, the_one):
    p = captured(with_numpy, batches)
    found = the_one(p.advice.table, BEGIN)
    assert found["finding"].startswith("The graph calls weighted, in Python: ")
    assert found["place"] == place_of(with_numpy.python_function, "numpy_function")
    assert place_of(weighted, "time.sleep") in found["evidence"]
    assert "TensorFlow's ops" in found["fix"]
    rows = p.python.table[p.python.table["function"] == "weighted"]
    assert set(rows["thread"]) == {"graph"}


def test_a_function_of_tensorflows_ops_needs_no_python(batches, the_one):
    found = the_one(captured(with_ops, batches).advice.table, BEGIN)
    assert found["fix"].startswith("doubled needs no Python: call doubled itself, without tf.py_function.")


def test_functions_of_pipelines_are_those_of_tf_data(batches):
    data = batches.map(lambda x: tf.numpy_function(loaded, [x], tf.float32))
    p = captured(plain, data)
    rows = p.python.table[p.python.table["function"] == "loaded"]
    assert set(rows["thread"]) == {"tf.data"}
    assert not p.advice.table["finding"].str.startswith(BEGIN).any()
    assert p.advice.table["finding"].iloc[0].startswith("Steps wait for their data: loaded")


def test_of_both_each_has_its_own(batches, the_one):
    data = batches.map(lambda x: tf.ensure_shape(tf.numpy_function(loaded, [x], tf.float32), [1, 8]))
    table = captured(with_numpy, data).advice.table
    assert the_one(table, BEGIN)["finding"].startswith("The graph calls weighted")
