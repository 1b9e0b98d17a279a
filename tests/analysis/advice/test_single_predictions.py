"""A model that predicts single examples again and again."""

PROGRAM = "single_predictions/play"


def test_all_lines_that_call_it_are_named(advised, place_of, the_one):
    found = the_one(advised(PROGRAM), "predict-per-example")
    assert found["finding"].startswith("MODEL.predict is called again and again")
    places = {place_of(PROGRAM, "play", "now ="), place_of(PROGRAM, "play", "then =")}
    (other,) = places - {found["place"]}
    assert f"and the calls at {other}: " in found["evidence"]
    assert f"Do the same at {other}." in found["fix"]
