"""The layer that takes most of each step is named with its line, whoever wrote the model in which style."""

import pytest


@pytest.mark.parametrize(
    ("recorded", "code", "name", "dense"),
    [
        ("layer/sequential", "sequential", "wide", "Dense(400"),
        ("layer/custom_loop", "Subclassed", "dense", "Dense(399"),
    ],
)
def test_a_huge_dense_layer_is_named_and_its_input_pooled(advised, place_of, the_one, recorded, code, name, dense):
    table = advised(recorded)
    found = the_one(table, "dominant-layer")
    assert found["finding"].startswith(f"The layer {name}")
    assert found["finding"].endswith("takes most of each step")
    assert found["severity"] == "medium"
    assert place_of(recorded, code, dense) in found["evidence"]
    assert "in the optimizer" in found["evidence"]
    assert "GlobalAveragePooling2D" in found["fix"]
    assert found["place"] == place_of(recorded, code, "Flatten()")
    assert "keras.layers.GlobalAveragePooling2D()" in found["change"]
    assert 0 < found["gain_low_percent"] < found["gain_high_percent"] <= 100
    assert "dominant-op" not in table["rule"].tolist()


def test_a_variable_without_a_layer_is_told_by_its_line(advised, place_of, the_one):
    found = the_one(advised("layer/product"), "dominant-layer")
    assert found["finding"].startswith("The ops at ")
    assert found["severity"] == "info"
    assert place_of("layer/product", "Product", "x @ self.weights") in found["finding"]


def test_layers_of_like_cost_are_no_finding(advised):
    assert "dominant-layer" not in advised("layer/alike")["rule"].tolist()


def test_a_recurrent_layer_is_told_to_take_fewer_time_steps(advised, the_one):
    found = the_one(advised("layer/recurrent"), "dominant-layer")
    assert found["finding"].startswith("The layer gru takes most of each step")
    assert found["fix"].endswith("Its ops run again for each time step: take fewer of these, or join several to one.")
