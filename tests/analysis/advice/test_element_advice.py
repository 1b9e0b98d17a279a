"""A tensor whose elements a loop reads is told to be read once."""

PROGRAM = "element/one_by_one"


def test_elements_read_one_by_one_are_named_first_with_the_loop(advised, place_of):
    found = advised(PROGRAM).iloc[0]
    assert found["rule"] == "tensor-read-by-element"
    assert found["finding"].startswith("Elements of out are read one by one: ")
    assert place_of(PROGRAM, "one_by_one", "float(out") in found["finding"]
    assert found["place"] == place_of(PROGRAM, "one_by_one", "for i in")
    assert found["change"] == "out = out.numpy()\nfor i in range(150):"
    assert 0 < found["gain_low_percent"] < found["gain_high_percent"] <= 100


def test_elements_of_an_array_are_fine(advised):
    assert "tensor-read-by-element" not in advised("element/at_once")["rule"].tolist()
