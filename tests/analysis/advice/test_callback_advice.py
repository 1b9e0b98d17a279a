"""What to do about a callback that predicts one example after another."""

PROGRAM = "callback/predicting"


def test_a_callback_that_predicts_in_a_loop_is_told_to_predict_at_once(advised, place_of, the_one):
    found = the_one(advised(PROGRAM), "predict-in-callback")
    assert found["finding"].startswith("Scores.on_epoch_end takes ")
    assert found["finding"].endswith("of the training's time: it calls self.model.predict again and again")
    assert found["fix"].startswith("Call self.model.predict once, with all examples in one array. Or skip")
    assert found["place"] == place_of(PROGRAM, "Scores", "predict(")
    assert found["change"] == "found = [self.model.predict_on_batch(row[None])[0, 0] for row in X[:12]]"


def test_what_each_model_traces_in_a_callback_and_its_first_call_stay(advised, the_one):
    """Of two calls in each training, one is left, and that one traces."""
    found = the_one(advised("callback/predicting_for_two_models"), "slow-callback")
    assert "is tracing, which fewer calls do not save" in found["evidence"]
    assert found["gain_high_percent"] < found["estimated_gain_percent"]
