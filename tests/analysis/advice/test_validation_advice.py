"""Validation that waits for its data is told as validation."""

RULE = "validation-input-bound"


def test_slow_validation_data_is_named(advised, the_one):
    found = the_one(advised("validation/waits"), RULE)
    assert found["finding"].startswith("Validation waits for its data: slow ")
    assert found["severity"] == "high"
    assert found["evidence"].startswith("In 3 epochs, validation takes ")


def test_slow_validation_data_is_named_beside_a_callback_that_hides_it(advised, the_one):
    """Validation waits for a second, the callback for seven."""
    table = advised("validation/beside_heavy_callback")
    assert table["rule"].iloc[0] == "slow-callback"
    assert table["finding"].iloc[0].startswith("Heavy.on_train_batch_end takes")
    found = the_one(table, RULE)
    assert 5 < found["estimated_gain_percent"] < 15
    assert found["severity"] == "medium"
    assert not table["finding"].str.startswith("Steps wait").any()


def test_a_callback_in_steps_saves_no_more_than_their_part_of_the_training(advised, the_one):
    """The callback is most of each step of 20 ms, but each batch of validation takes as long."""
    found = the_one(advised("validation/beside_light_callback"), "slow-callback")
    assert "Light.on_train_batch_end takes" in found["finding"]
    assert found["gain_high_percent"] < 85


def test_slow_training_data_is_no_matter_of_validation(advised):
    assert RULE not in advised("validation/training_waits")["rule"].tolist()


def test_one_change_for_training_and_validation_is_one_finding(advised, the_one):
    table = advised("validation/same_pipeline")
    found = the_one(table, "map-repeated-each-epoch")
    assert found["finding"].startswith("Steps wait for their data: enlarge runs again in each of 4 epochs")
    assert "In 4 epochs, validation takes " in found["evidence"]
    assert found["evidence"].endswith(" of that, for the same reason.")
    assert RULE not in table["rule"].tolist()
