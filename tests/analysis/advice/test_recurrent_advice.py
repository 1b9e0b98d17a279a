"""Recurrent layers on a CPU: XLA helps where the ops of their loops are small."""

import pytest

RULE = "small-recurrent-ops"


def test_small_ones_are_told_to_use_xla(advised, place_of, the_one):
    found = the_one(advised("recurrent/stacked"), RULE)
    assert found["finding"] == "Recurrent layers run many small ops: low, top"
    assert found["change"] == 'model.compile("sgd", "mse", jit_compile=True)'
    assert found["place"] == place_of("recurrent/stacked", "stacked", "model.compile")
    # Compiling would take longer than these few steps.
    assert found["severity"] == "info"
    assert not found["gain_high_percent"] > 0


@pytest.mark.parametrize("recorded", ["recurrent/large", "recurrent/with_xla", "recurrent/unrolled"])
def test_others_are_not(advised, recorded):
    assert RULE not in advised(recorded)["rule"].tolist()


def test_few_examples_are_told_to_be_more(advised, the_one):
    found = the_one(advised("recurrent/one_example"), "small-steps")
    assert found["finding"] == "The steps are small: 1 example each"
    assert "The loops of its recurrent layers run about" in found["evidence"]


def test_batches_are_large_enough(advised):
    assert "small-steps" not in advised("recurrent/stacked")["rule"].tolist()


def test_layers_that_keras_traces_for_each_time_step_are_named(captured, the_one):
    program = "recurrent/at_each_time_step"
    p = captured(program)
    found = the_one(p.advice.table, "unrolled-layer")
    assert "of the cell's time: TimeDistributed (" in found["finding"]
    assert "Conv2D(n, (1, k))" in found["fix"]
    (graphs,) = p.data.graphs
    assert graphs.layers["type"].eq("TimeDistributed").sum() == 2
