"""Python that makes the same data in each epoch: a cache behind it keeps that."""

import re

RULE = "python-repeated-each-epoch"
FINDING = "Steps wait for their data: digits makes the data in Python, again in each of 3 epochs"


def test_what_a_generator_yields_is_kept_for_all_epochs(advised, place_of, the_one):
    found = the_one(advised("kept_results/generated"), RULE)
    # Either is true: rows calls digits, and who is seen more often is named.
    assert found["finding"] in (FINDING, FINDING.replace("digits", "rows"))
    assert found["place"] == place_of("kept_results/generated", "generated", "from_generator(")
    assert found["change"] == "data = tf.data.Dataset.from_generator(rows, output_signature=ROW).cache()"


def test_what_a_generator_draws_is_not(advised, the_one):
    table = advised("kept_results/from_chance")
    found = the_one(table, "slow-generator")
    assert ".cache()" not in found["fix"] + found["change"]
    assert RULE not in table["rule"].tolist()


def test_a_cache_behind_shuffled_elements_is_shuffled_again(advised, place_of, the_one):
    found = the_one(advised("kept_results/mapped"), RULE)
    assert found["finding"] == FINDING
    assert found["place"] == place_of("kept_results/mapped", "mapped", ".map(load)")
    assert re.fullmatch(r"data = numbers.map\(load\).cache\(\).shuffle\(\d+00\).batch\(20\)", found["change"])
