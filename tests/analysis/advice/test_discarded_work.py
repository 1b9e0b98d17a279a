"""What a step computes for nothing: values that tf.where throws away, whole sorts, Jacobians of a batch, checks."""

import pytest
import tensorflow as tf

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


@tf.function
def masked(x):
    return tf.where(x > 0, tf.matmul(x, ROWS), 0.0)


def test_a_value_that_is_mostly_thrown_away(advised, place_of, the_one):
    found = the_one(advised(lambda: [scored_at_times(ROWS) for _ in range(20)]), "tf.where computes both of its values")
    assert found["place"] == place_of(scored_at_times.python_function, "return tf.where")
    assert found["change"] == "return tf.cond(COUNT % 10 == 0, lambda: score(x), lambda: 0.0)"
    assert "`score(x)`" in found["evidence"]


def test_a_choice_for_each_number_needs_both(advised):
    table = advised(lambda: [masked(ROWS) for _ in range(20)])
    assert not table["finding"].str.startswith("tf.where").any()


LONG = tf.random.normal((4, 50_000), seed=2)


@tf.function
def nearest(distances):
    order = tf.argsort(distances)
    return order[:, :5]


@tf.function
def ranks(distances):
    return tf.argsort(tf.argsort(distances))


def test_a_sort_for_the_first(advised, place_of, the_one):
    found = the_one(advised(lambda: [nearest(LONG) for _ in range(20)]), "Rows of 50,000 numbers are sorted")
    assert found["place"] == place_of(nearest.python_function, "order =")
    scope = {"tf": tf}
    exec(f"def changed(distances):\n    {found['change']}\n    return order[:, :5]", scope)
    tf.debugging.assert_equal(scope["changed"](LONG), nearest(LONG))


def test_a_sort_that_is_used_as_a_whole(advised):
    assert not advised(lambda: [ranks(LONG) for _ in range(10)])["finding"].str.contains("are sorted").any()


WEIGHTS = tf.random.normal((1, 64), seed=3)


@tf.function
def slopes(x):
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = tf.reduce_sum(tf.tanh(tf.matmul(x, WEIGHTS)), axis=1, keepdims=True)
    all_pairs = inner.jacobian(y, x)
    return tf.linalg.diag_part(all_pairs[:, 0, :, 0])


def test_a_jacobian_of_which_only_the_diagonal_is_not_zero(advised, place_of, the_one):
    x = tf.random.normal((200, 1), seed=4)
    found = the_one(advised(lambda: [slopes(x) for _ in range(20)]), "The Jacobian of 200 examples by 200 examples")
    assert found["place"] == place_of(slopes.python_function, "inner.jacobian")
    assert "`inner.gradient(y, x)`" in found["fix"]


KERNEL = tf.Variable(tf.random.normal((64, 8), seed=5))


@tf.function
def by_weights(x):
    with tf.GradientTape() as tape:
        y = tf.tanh(tf.matmul(x, KERNEL))
    return tape.jacobian(y, KERNEL)


def test_a_jacobian_by_weights_is_needed_as_a_whole(advised):
    x = tf.random.normal((64, 64), seed=6)
    table = advised(lambda: [by_weights(x) for _ in range(20)])
    assert not table["finding"].str.startswith("The Jacobian").any()


@pytest.fixture
def checked():
    tf.debugging.enable_check_numerics()
    yield tf.function(lambda x: [x := x * 2.0 - tf.sin(x) for _ in range(20)][-1])
    tf.debugging.disable_check_numerics()


def test_checks_that_were_left_on(advised, the_one, checked):
    found = the_one(advised(lambda: [checked(ROWS) for _ in range(20)]), "Each op's result is checked for NaN")
    assert found["change"] == "tf.debugging.disable_check_numerics()"
    assert found["gain_low_percent"] < found["gain_high_percent"]
