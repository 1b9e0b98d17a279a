"""Differences of all pairs that are squared are told with the line, and the product that replaces them."""

import tensorflow as tf

BEGIN = "The differences of all"
ROWS = tf.random.normal((400, 64), seed=1)


def distances(x):
    difference = x[:, None, :] - x[None, :, :]
    return tf.reduce_sum(tf.square(difference), axis=-1)


def city_blocks(x):
    return tf.reduce_sum(tf.abs(x[:, None, :] - x[None, :, :]), axis=-1)


def loop(function):
    step = tf.function(lambda x: tf.reduce_mean(function(x)))

    def program():
        for _ in range(10):
            step(ROWS)

    return program


def test_squared_distances(advised, place_of, the_one):
    found = the_one(advised(loop(distances)), BEGIN)
    assert found["finding"].startswith("The differences of all 400 × 400 pairs of rows are computed")
    assert place_of(distances, "difference =") in found["finding"]
    assert found["place"] == place_of(distances, "tf.square")
    scope = {"tf": tf}
    exec(f"def changed(x):\n    {found['change']}", scope)
    tf.debugging.assert_near(scope["changed"](ROWS), distances(ROWS), atol=1e-2)


def test_absolute_differences_have_no_such_form(advised):
    assert not advised(loop(city_blocks))["finding"].str.startswith(BEGIN).any()
