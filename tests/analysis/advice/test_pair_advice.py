"""Differences of all pairs that are squared are told with the line, and the product that replaces them."""

RULE = "pairwise-differences"


def test_squared_distances(advised, place_of, the_one):
    found = the_one(advised("pair/squared"), RULE)
    assert found["finding"].startswith("The differences of all 400 × 400 pairs of rows are computed")
    assert place_of("pair/squared", "distances", "difference =") in found["finding"]
    assert found["place"] == place_of("pair/squared", "distances", "tf.square")


def test_absolute_differences_have_no_such_form(advised):
    assert RULE not in advised("pair/absolute")["rule"].tolist()
