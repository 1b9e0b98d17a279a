"""Models that are loaded again and again, or trained though they are frozen."""


def test_a_model_that_is_loaded_in_a_loop_is_named_with_its_line(captured, place_of):
    recorded = "models/loaded_in_loop"
    first = captured(recorded).advice.table.iloc[0]
    assert first["rule"] == "model-loaded-in-loop"
    assert first["place"] == place_of(recorded, "forecast", "load_model")
    assert "loads a model 8 times" in first["evidence"]


def test_a_model_that_is_loaded_once_is_not(advised):
    assert "model-loaded-in-loop" not in advised("models/loaded_once")["rule"].tolist()


def test_a_discriminator_that_cannot_learn_is_named(advised, the_one):
    found = the_one(advised("models/frozen_discriminator"), "frozen-model-trained")
    assert found["finding"] == "D is trained, but has no weights to train"
    assert found["place"] == "In[1] line 5"
    assert "change no weight" in found["evidence"]


def test_one_that_is_thawed_is_not(advised):
    assert "frozen-model-trained" not in advised("models/thawed_discriminator")["rule"].tolist()


def test_models_that_an_object_of_a_class_builds_for_each_client_are_alike(advised, the_one):
    found = the_one(advised("models/rebuilt_for_each_client"), "model-built-in-loop")
    assert found["place"] == "cell line 5"
    assert found["finding"].startswith("5 models are built and traced: ")


def test_clearing_the_session_runs_no_ops(advised):
    table = advised("models/rebuilt_for_each_client")
    assert not table["place"].eq("cell line 9").any()
    assert "eager-outside-steps" not in table["rule"].tolist()
