"""What is the same in every step, or in every epoch, is found by what its ops depend on."""

import pytest

SAME, FEATURES = "constant-each-step", "frozen-layers-each-epoch"


def test_a_constant_chain_is_told_with_the_lines_to_move(advised, place_of, the_one):
    program = "repeated/constant_chain"
    found = the_one(advised(program), SAME)
    assert found["finding"].startswith("The same value is computed in every step")
    assert found["severity"] == "high"
    assert place_of(program, "constant_chain.step", "tf.linalg.inv") in found["evidence"]
    assert found["place"] == place_of(program, "constant_chain.step", "def step")
    assert found["change"].splitlines() == [
        "kernel = distances(POINTS, POINTS)",
        "inverse = tf.linalg.inv(kernel + tf.eye(500))",
        "",
        "def step(x):",
        "    weights.assign_sub(1e-6 * tf.transpose(distances(x, inverse @ POINTS)) @ x[:, :1])",
    ]
    assert found["gain_low_percent"] < found["gain_high_percent"]


def test_a_constant_of_a_layer_of_keras(advised, place_of, the_one):
    found = the_one(advised("repeated/constant_of_a_layer"), SAME)
    assert found["place"] == place_of("repeated/constant_of_a_layer", "Projected", "tf.linalg.inv")


def test_what_depends_on_the_batch_weights_or_chance_is_not_the_same(advised):
    assert SAME not in advised("repeated/nothing_constant")["rule"].tolist()


def test_a_frozen_backbone_is_named(advised, place_of, the_one):
    found = the_one(advised("repeated/frozen_backbone"), FEATURES)
    assert found["finding"] == "The frozen model backbone computes the same features in every epoch"
    assert found["place"] == place_of("repeated/frozen_backbone", "backbone", "Conv2D(32")
    assert "predict" in found["fix"]


def test_a_frozen_part_is_named_by_its_last_layer_also_where_that_takes_little(advised, the_one):
    found = the_one(advised("repeated/frozen_part"), FEATURES)
    assert found["finding"] == "The part up to the layer few computes the same features in every epoch"


@pytest.mark.parametrize("name", ["trained_backbone", "augmented_images", "one_epoch"])
def test_what_is_trained_augmented_or_read_once_is_computed_in_every_step(advised, name):
    assert FEATURES not in advised(f"repeated/{name}")["rule"].tolist()
