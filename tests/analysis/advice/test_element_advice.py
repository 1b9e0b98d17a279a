"""A tensor whose elements a loop reads is told to be read once."""

import tensorflow as tf

BEGIN = "Elements of "
WEIGHTS = tf.Variable(tf.ones((16, 8)))


@tf.function
def scores(x):
    return tf.nn.softmax(x @ WEIGHTS)


def one_by_one():
    for _ in range(8):
        out = scores(tf.ones((150, 16)))
        picked = []
        for i in range(150):
            picked.append(float(out[i, 0]))  # noqa: PERF401  (what a user writes)


def at_once():
    for _ in range(8):
        out = scores(tf.ones((150, 16))).numpy()
        picked = []
        for i in range(150):
            picked.append(float(out[i, 0]))  # noqa: PERF401  (what a user writes)


def test_elements_read_one_by_one_are_named_first_with_the_loop(advised, place_of):
    found = advised(one_by_one).iloc[0]
    assert found["finding"].startswith("Elements of out are read one by one: ")
    assert place_of(one_by_one, "float(out") in found["finding"]
    assert found["place"] == place_of(one_by_one, "for i in")
    assert found["change"] == "out = out.numpy()\nfor i in range(150):"
    assert 0 < found["gain_low_percent"] < found["gain_high_percent"] <= 100


def test_elements_of_an_array_are_fine(advised):
    assert not advised(at_once)["finding"].str.startswith(BEGIN).any()
