"""A model that predicts single examples again and again."""

PROGRAM = "single_predictions/play"


def test_all_lines_that_call_it_are_named(advised, place_of, the_one):
    found = the_one(advised(PROGRAM), "predict-per-example")
    assert found["finding"].startswith("MODEL.predict is called again and again")
    places = {place_of(PROGRAM, "play", "now ="), place_of(PROGRAM, "play", "then =")}
    (other,) = places - {found["place"]}
    assert f"and the calls at {other}: " in found["evidence"]
    assert f"Do the same at {other}: together that saves up to " in found["fix"]


def test_a_call_over_several_lines_is_changed_beside_calls_with_more_batches(advised, place_of, the_one):
    program = "single_predictions/rollouts"
    found = the_one(advised(program), "predict-per-example")
    assert found["place"] == place_of(program, "rollouts", "now =")
    assert found["change"] == "now = MODEL.predict_on_batch(np.reshape(STATE, [1, 4]))"
    assert found["fix"].startswith("Each of its calls has one batch")
    assert place_of(program, "rollouts", "values =") in found["evidence"]
    assert "Do the same" not in found["fix"]


def test_the_gain_is_of_the_line_that_the_code_changes(advised, the_one):
    found = the_one(advised(PROGRAM), "predict-per-example")
    assert found["gain_high_percent"] < found["estimated_gain_percent"]  # of two lines alike


def test_calls_that_compute_for_longer_than_they_start_are_named(captured, the_one):
    p = captured("single_predictions/of_large_images")
    calls = p.python.calls[p.python.calls["call"].str.endswith(".predict")]
    assert calls["between_steps_ms"].sum() < calls["in_steps_ms"].sum()
    found = the_one(p.advice.table, "predict-per-example")
    assert found["change"] == "features = LARGE.predict_on_batch(image)"
    assert found["estimated_gain_percent"] < 50


def test_calls_of_several_batches_between_which_the_model_trains_are_told_how_to_skip_the_pipeline(advised, the_one):
    found = the_one(advised("single_predictions/mined"), "predict-per-example")
    assert "`predict_on_batch` takes all examples of a call as one batch" in found["fix"]


def test_the_size_of_what_is_predicted_is_not_that_of_the_batches_of_training(captured):
    """A generator's batches are of no size that is known."""
    p = captured("single_predictions/after_generator")
    assert not p.overview.summary["examples_per_step"] > 0
