"""Rows of a large table that are all computed before few of them are looked up."""

import pytest

RULE = "rows-computed-before-lookup"


def test_it_is_told_with_its_line(advised, place_of, the_one):
    found = the_one(advised("lookup/normalized_first"), RULE)
    assert found["finding"].startswith("All 100,000 rows of a table are computed before a lookup")
    assert found["place"] == place_of("lookup/normalized_first", "computed_first", "tf.gather")
    assert "A step uses 64 of them." in found["evidence"]
    assert found["fix"].startswith("Look up first, then compute")


def test_all_lookups_are_told_with_their_lines(advised, place_of, the_one):
    recorded = "lookup/two_lookups"
    found = the_one(advised(recorded), RULE)
    first, second = (place_of(recorded, "computed_before_two", text) for text in ("first = ", "return"))
    assert f"A step uses 64 ({first}) and 32 ({second}) of them." in found["evidence"]
    assert "give each tf.gather the table itself" in found["fix"]


@pytest.mark.parametrize("recorded", ["lookup/looked_up", "lookup/by_column"])
def test_a_lookup_in_the_table_itself_and_what_needs_all_rows_are_not(advised, recorded):
    assert RULE not in advised(recorded)["rule"].tolist()
