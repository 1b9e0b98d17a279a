"""Convolutions that are as wide as their input are told, and no others."""

WHOLE = "convolution-over-whole-width"


def test_a_convolution_over_the_whole_width_leads_with_the_layer_that_computes_the_same(advised, place_of):
    program = "convolutions/whole_width"
    found = advised(program).iloc[0]
    assert found["rule"] == WHOLE
    assert found["place"] == place_of(program, "whole_width", "layers.Conv2D")
    assert "as wide as its input, 24 x 32 with 1 channel." in found["evidence"]
    assert "`keras.layers.Conv1D(16, 3)` on an input of 24 x 32 " in found["fix"]
    assert found["gain_high_percent"] > found["gain_low_percent"] > 0


def test_a_convolution_whose_input_needs_no_gradient_is_not_told(advised):
    """What is slow is that gradient: the other ops of such a convolution are as fast as in one dimension."""
    assert WHOLE not in advised("convolutions/without_gradient")["rule"].tolist()


def test_convolutions_along_one_axis_and_of_images_are_not_told(advised):
    for program in ("convolutions/along_words", "convolutions/of_image"):
        assert WHOLE not in advised(program)["rule"].tolist()


def test_a_convolution_in_a_session_is_told_in_the_terms_of_its_program(advised, captured, place_of):
    program = "session_model/reads_words"
    found = advised(program).iloc[0]
    assert found["rule"] == WHOLE
    assert found["place"] == place_of(program, "reader", "tf.nn.conv2d")
    assert "`tf.nn.conv1d` of an input of 24 x 32 with a kernel of 3 x 32 x 16" in found["fix"]
    assert "keras" not in found["fix"]
    tree = captured(program).breakdown.table
    assert set(tree.loc[(tree["kind"] == "layer") & (tree["name"] == "reader"), "place"]) == {found["place"]}
