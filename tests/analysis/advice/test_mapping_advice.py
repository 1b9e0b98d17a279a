"""A loop of tf.map_fn is told with the line, and with what runs all elements at once."""

RULE = "map-fn"


def test_the_line_is_told_first(advised, place_of, the_one):
    table = advised("mapping/forward")
    found = the_one(table, RULE)
    where = place_of("mapping/forward", "areas", "tf.map_fn")
    assert found["finding"].startswith(f"tf.map_fn runs its function for one element after another ({where})")
    assert table["rule"].iloc[0] == RULE
    assert "many-small-ops" not in table["rule"].tolist()


def test_its_gradients_belong_to_it(advised, place_of, the_one):
    found = the_one(advised("mapping/with_gradients"), RULE)
    assert found["place"] == place_of("mapping/with_gradients", "areas", "tf.map_fn")
    assert found["gain_high_percent"] > 70


def test_a_ragged_tensor_is_given_as_a_whole(advised, the_one):
    found = the_one(advised("mapping/ragged"), RULE)
    assert found["fix"].startswith("Its input is ragged")
    assert not found["change"]


def test_a_loop_of_long_ops_is_no_case(advised):
    """They compute: run once for all elements, they take as long together."""
    assert RULE not in set(advised("mapping/long_ops")["rule"])
