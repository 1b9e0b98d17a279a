"""Programs of which metrics, the preparation of images, padding or the user's own loss take most of each step."""


def test_metrics_with_many_thresholds_are_named(advised, place_of, the_one):
    found = the_one(advised("parts_of_steps/scored"), "slow-metrics")
    assert found["finding"].startswith("The metrics take")
    assert found["place"] == place_of("parts_of_steps/scored", "scored", "AUC(")
    assert "They count at 8,000 thresholds in each step" in found["evidence"]
    assert found["change"] == "found = keras.metrics.AUC(num_thresholds=200, multi_label=True)"


def test_images_that_are_made_small_late_are_told_to_be_so_at_once(advised, the_one):
    found = the_one(advised("parts_of_steps/augmented"), "image-layers-in-model")
    assert found["finding"].startswith("Preparing the images takes")
    assert "random_rotation" in found["finding"]
    assert "They work on 6,400 pixels per image, and Resizing then leaves 400." in found["evidence"]
    assert found["fix"].startswith("Put Resizing first")
    assert found["gain_high_percent"] <= 93.75  # of the pixels


def test_the_line_that_pads_is_named_where_loops_over_time_take_the_step(advised, place_of, the_one):
    found = the_one(advised("parts_of_steps/padded"), "padded-sequences")
    assert found["finding"].startswith("The GRU goes through 200 time steps")
    place = place_of("parts_of_steps/padded", "padded", "maxlen=200")
    assert (found["place"], found["severity"]) == (place, "info")


def test_a_loss_that_maps_over_examples_is_vectorised(advised, place_of, the_one):
    found = the_one(advised("parts_of_steps/with_a_loss_of_its_own"), "map-fn")
    assert found["place"] == place_of("parts_of_steps/with_a_loss_of_its_own", "shape_loss", "map_fn")
    assert found["change"] == "return tf.vectorized_map(nearest, (y_true, y_pred))"
