"""Objects that yield the same data in each epoch: a cache behind `from_generator` keeps that."""


def test_what_an_object_yields_is_kept_for_all_epochs(advised, place_of, the_one):
    found = the_one(advised("kept_objects/iterated"), "python-repeated-each-epoch")
    assert found["finding"].startswith("Steps wait for their data: ")
    assert found["finding"].endswith(" makes the data in Python, again in each of 3 epochs")
    assert found["place"] == place_of("kept_objects/iterated", "iterated", "from_generator(")
    assert found["change"] == "data = tf.data.Dataset.from_generator(lambda: rows, output_signature=ROW).cache()"


def test_what_an_object_draws_is_not(advised, the_one):
    table = advised("kept_objects/called")
    assert "anew in each" not in the_one(table, "slow-generator")["finding"]
    assert "python-repeated-each-epoch" not in table["rule"].tolist()
