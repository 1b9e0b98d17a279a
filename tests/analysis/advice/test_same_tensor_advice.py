"""A loop that makes the same tensor in each step."""

RULE = "same-tensor-each-step"


def test_the_line_that_copies_is_named(advised, place_of, the_one):
    table = advised("same_tensor/copying")
    found = the_one(table, RULE)
    assert found["finding"].startswith("The same tensor is made in each step")
    assert found["place"] == place_of("same_tensor/copying", "copying", "tf.constant")
    assert "`same = tf.constant(table, tf.float32)`" in found["fix"]
    assert table["rule"].iloc[0] == RULE


def test_a_tensor_that_is_kept_is_not(advised):
    assert RULE not in advised("same_tensor/kept")["rule"].tolist()
