"""Ops on all rows of a large table, of which a step looks few up, are told with what makes them: a penalty, or Adam."""

import pytest

PENALTY, OPTIMIZER = "penalty-on-whole-table", "optimizer-on-whole-table"


def test_an_optimizer_that_updates_all_rows(advised, place_of, the_one):
    table = advised("table/adam")
    found = the_one(table, OPTIMIZER)
    assert found["finding"].startswith("The optimizer updates all 100,000 rows of the Embedding layer ")
    assert found["place"] == place_of("table/adam", "learn", "keras.layers.Embedding")
    assert "SGD without momentum" in found["fix"]
    assert "A step looks up 80 rows" in found["evidence"]
    assert "dominant-layer" not in table["rule"].tolist()


def test_a_table_of_less_than_a_million_numbers_counts_by_its_time(advised, the_one):
    found = the_one(advised("table/adam_of_20_000_rows"), OPTIMIZER)
    assert found["finding"].startswith("The optimizer updates all 20,000 rows")


def test_a_penalty_on_all_rows(advised, place_of, the_one):
    found = the_one(advised("table/penalty"), PENALTY)
    assert found["finding"].startswith("A penalty is computed on all 100,000 rows")
    assert found["place"] == place_of("table/penalty", "learn", "keras.layers.Embedding")
    assert "activity_regularizer" in found["fix"]
    assert 0 < found["gain_low_percent"] < found["gain_high_percent"] <= 100


@pytest.mark.parametrize("recorded", ["table/sgd", "table/small_table"])
def test_an_optimizer_without_moments_and_a_small_table(advised, recorded):
    assert not {PENALTY, OPTIMIZER, "rows-computed-before-lookup"} & {*advised(recorded)["rule"]}


def test_a_penalty_in_a_loop_of_the_users(advised, place_of, the_one):
    found = the_one(advised("table/penalty_in_a_loop"), PENALTY)
    assert found["place"] == place_of("table/penalty_in_a_loop", "penalised", "l2_loss")
    assert "Keras divides" not in found["fix"]


def test_a_product_of_looked_up_rows_is_no_penalty(advised):
    assert PENALTY not in advised("table/product_of_rows")["rule"].tolist()
