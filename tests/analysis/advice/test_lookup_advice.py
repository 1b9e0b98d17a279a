"""Rows of a large table that are all computed before few of them are looked up."""

import pytest
import tensorflow as tf

TABLE = tf.Variable(tf.random.uniform((100_000, 16), seed=1))
IDS = tf.random.uniform((64,), 0, 100_000, tf.int32, seed=2)
FINDING = "All 100,000 rows of a table are computed before a lookup"


def step(look_up):
    @tf.function
    def one(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(look_up(ids) ** 2)
        gradient = tape.gradient(loss, TABLE)
        if isinstance(gradient, tf.IndexedSlices):
            TABLE.scatter_sub(gradient)
        else:
            TABLE.assign_sub(0.1 * gradient)

    return lambda: [one(IDS) for _ in range(10)]


def computed_first(ids):
    return tf.gather(tf.math.l2_normalize(TABLE, axis=1), ids)


def looked_up_first(ids):
    return tf.math.l2_normalize(tf.gather(TABLE, ids), axis=1)


def computed_before_two(ids):
    rows = tf.math.l2_normalize(TABLE, axis=1)
    first = tf.gather(rows, ids)
    return first + tf.gather(rows, ids[:32] + 1)[:1]


def columns_normalized(ids):
    return tf.gather(tf.math.l2_normalize(TABLE, axis=0), ids)


def test_it_is_told_with_its_line(advised, place_of, the_one):
    found = the_one(advised(step(computed_first)), FINDING)
    assert found["place"] == place_of(computed_first, "tf.gather")
    assert "A step uses 64 of them." in found["evidence"]
    assert found["fix"].startswith("Look up first, then compute")


def test_all_lookups_are_told_with_their_lines(advised, place_of, the_one):
    found = the_one(advised(step(computed_before_two)), FINDING)
    first, second = (place_of(computed_before_two, text) for text in ("first = ", "return"))
    assert f"A step uses 64 ({first}) and 32 ({second}) of them." in found["evidence"]
    assert "give each tf.gather the table itself" in found["fix"]


@pytest.mark.parametrize("look_up", [looked_up_first, columns_normalized])
def test_a_lookup_in_the_table_itself_and_what_needs_all_rows_are_not(advised, look_up):
    assert not advised(step(look_up))["finding"].str.startswith(FINDING).any()
