"""A filter that decides on the same elements in each epoch: a cache behind it keeps what is left."""


def test_what_a_filter_keeps_is_cached_and_shuffled_again(advised, place_of, the_one):
    found = the_one(advised("kept_filter/filtered"), "filter-repeated-each-epoch")
    assert found["finding"].startswith(
        "Steps wait for their data: is_valid is called for each single element, again in"
    )
    assert found["place"] == place_of("kept_filter/filtered", "filtered", ".filter(is_valid)")
    shuffled = "data = tf.data.Dataset.from_tensor_slices(X).shuffle(500).filter(is_valid).cache().shuffle("
    assert found["change"].startswith(shuffled)


def test_what_chance_decides_is_not(advised, the_one):
    found = the_one(advised("kept_filter/drawn"), "slow-stage")
    assert found["finding"] == "Steps wait for their data: Filter is slow"
