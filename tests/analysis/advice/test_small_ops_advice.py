"""Many small ops are told by the function that makes them; Keras' own loops over time are not."""

RULE = "many-small-ops"


def test_a_loop_over_columns(advised, place_of, the_one):
    table = advised("small_ops/columns")
    found = the_one(table, RULE)
    assert found["finding"].startswith("Many small ops in each step: by_column")
    assert found["place"] == place_of("small_ops/columns", "by_column", "log1p")
    assert "Vectorise" in found["fix"]
    assert found["gain_low_percent"] < found["gain_high_percent"]
    assert not {"python-between-ops", "small-steps"} & {*table["rule"]}


def test_a_loop_over_time_within_the_graph(advised, place_of, the_one):
    found = the_one(advised("small_ops/time_steps"), RULE)
    assert "in a loop" in found["evidence"]
    assert found["place"] == place_of("small_ops/time_steps", "smoothed", "state = 0.9")


def test_gradients_of_single_examples_are_taken_all_at_once(advised, the_one):
    found = the_one(advised("small_ops/gradients_per_example"), RULE)
    assert "tf.vectorized_map" in found["fix"]
    # The loop takes less time than it takes to build the graph of that.
    assert found["fix"].endswith("a run as short as this may gain nothing.")
    assert found["gain_low_percent"] == 0


def test_many_layers_of_one_class(advised, place_of, the_one):
    found = the_one(advised("small_ops/embeddings"), RULE)
    assert found["finding"].startswith("Many small ops in each step: 20 Embedding layers")
    assert found["place"] == place_of("small_ops/embeddings", "embeddings", "keras.layers.Embedding")


def test_a_recurrent_layer_of_keras_is_no_finding(advised):
    assert RULE not in advised("small_ops/recurrent_layer")["rule"].tolist()
