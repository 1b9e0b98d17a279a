"""A tensor of a loop in a graph that each pass copies to write one row of it."""

import pytest

RULE = "tensor-copied-in-loop"


def test_it_is_told_with_the_code_that_collects(advised, place_of, the_one):
    found = the_one(advised("loop_copy/scattered"), RULE)
    assert found["finding"].startswith("Each pass of a loop copies a whole tensor to write a part of it")
    assert found["place"] == place_of("loop_copy/scattered", "copied", "tensor_scatter_nd_update")
    assert "A pass writes 3,200 of 320,000 numbers." in found["evidence"]
    for code in ("path = tf.TensorArray(tf.float32, 100)", "path = path.write(t, state)", "path = path.stack()"):
        assert f"`{code}`" in found["fix"]


@pytest.mark.parametrize("recorded", ["loop_copy/tensor_array", "loop_copy/read_too"])
def test_a_tensor_array_and_a_tensor_that_the_loop_reads_are_not_told(advised, recorded):
    assert RULE not in advised(recorded)["rule"].tolist()
