"""A softmax over very many classes is told with its layer; one over few classes is not."""

RULE = "softmax-over-many-classes"


def test_many_classes(advised, place_of, the_one):
    table = advised("softmax/many_classes")
    found = the_one(table, RULE)
    assert found["finding"].startswith("A softmax over 30,000 classes takes ")
    assert found["finding"].endswith("of each step: the Dense layer scores")
    assert found["place"] == place_of("softmax/many_classes", "words", "Dense(classes")
    assert "num_classes=30000" in found["fix"]
    assert "sparse_categorical_crossentropy" not in found["evidence"]
    assert 0 < found["gain_low_percent"] < found["gain_high_percent"] <= 100
    assert "dominant-layer" not in table["rule"].tolist()


def test_targets_that_are_vectors(advised, the_one):
    assert "sparse_categorical_crossentropy" in the_one(advised("softmax/vector_targets"), RULE)["evidence"]


def test_few_classes(advised):
    assert RULE not in advised("softmax/few_classes")["rule"].tolist()
