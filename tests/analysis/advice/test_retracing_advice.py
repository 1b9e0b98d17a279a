"""Cells that trace for longer than they compute."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tfprof_nb.analysis.events.compilations import Compilations
from tfprof_nb.analysis.functions.retracing import GENERALISE
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.step_ops.step_ops import no_step_ops

ONE = "model.add(LSTM(8, unroll=True))\nmodel.fit(x)"
TWO = "model.add(LSTM(8, unroll=True))\nmodel.add(LSTM(8, unroll=True))\nmodel.fit(x)"


@pytest.fixture
def findings(found_by):
    """The findings on a cell of 4 s, of which so much is in warm-up steps."""

    def told(text, tracing_ms):
        numbers = ["calls", "tracings", "expensive_call_percent", "self_ms", "new_shapes"]
        calls = pd.DataFrame(columns=["function", "mode", "cause", *numbers])
        steps = pd.DataFrame(columns=["host", "phase", "step_name", "step_ms", "start_ms", "epoch", "warm_up"])
        return found_by(
            SimpleNamespace(
                functions=SimpleNamespace(table=calls.astype({"mode": str})),
                steps=SimpleNamespace(table=steps.astype({"warm_up": bool, "step_ms": float, "epoch": float})),
                overview=SimpleNamespace(summary={"warm_up_steps_ms": tracing_ms, "capture_ms": 4000.0}),
                code=Code({"cell": text}),
                step_ops=no_step_ops,
                compilations=lambda: Compilations(0, 0.0),
            ),
            *("unrolled-layer", "unrolled-loop", "long-tracing", "late-retracing"),
        )

    return told


def test_an_unrolled_layer_is_named_with_the_code_without_it(findings):
    (one,) = findings(ONE, 3000.0)
    assert one.finding == "Tracing takes 75.0% of the cell's time: unroll=True (cell line 1)"
    assert (one.severity, one.place, one.change) == ("high", "cell line 1", "model.add(LSTM(8))")
    assert findings(ONE, 1900.0) == []


def test_all_unrolled_layers_are_named_and_code_for_one_would_not_do(findings):
    (one,) = findings(TWO, 2000.0)
    assert one.finding.endswith("unroll=True (cell line 1 and cell line 2)")
    assert (one.place, one.change) == ("cell line 1", "")


def test_without_a_known_cause_only_long_tracing_is_told(findings):
    assert findings("model.fit(x)", 2900.0) == []
    (one,) = findings("model.fit(x)", 3100.0)
    assert (one.severity, one.place) == ("info", "")


def test_python_that_only_traces_is_not_eager(advised):
    found = advised("retracing/function_per_call")
    assert found["rule"].iloc[0] == "function-defined-in-loop"
    assert "traced again and again" in found["finding"].iloc[0]
    assert not {"eager-ops", "eager-line", "eager-loop"} & {*found["rule"]}


def test_a_smaller_last_batch_is_named_with_the_shapes(advised, the_one):
    late = the_one(advised("retracing/smaller_last_batch"), "late-retracing")
    assert late["finding"] == "A function is traced again in the middle of the run"
    assert late["evidence"].endswith("Of scaled, argument `values` had the shapes (64, 4), (16, 4).")
    assert "`.batch(n, drop_remainder=True)`. Otherwise write @tf.function(reduce_retracing=True)" in late["fix"]


def test_no_example_of_a_prediction_is_told_to_be_left_out(advised, the_one):
    late = the_one(advised("retracing/smaller_last_prediction"), "late-retracing")
    assert "`batch_size=` that divides the number of examples" in late["fix"]
    assert "drop_remainder" not in late["fix"]


@pytest.mark.parametrize(("epochs", "late"), [([0, 1], 1), ([1, 0], 0)])
def test_a_prediction_in_a_training_that_begins_anew_is_not_late(captured, found_by, epochs, late):
    """That may be of another model, or of one that was compiled again."""
    evidence = captured("retracing/smaller_last_prediction")._evidence
    table = evidence.steps.table
    trains = table.iloc[:2].assign(phase="train", epoch=epochs, warm_up=False)
    last = int(np.flatnonzero(table["warm_up"])[-1])
    with_training = pd.concat([table.iloc[:last], trains, table.iloc[last:]])
    steps = replace(evidence.steps, table=with_training)
    assert len(found_by(replace(evidence, steps=steps), "late-retracing")) == late


def test_the_first_batch_of_a_second_model_is_not_traced_again(captured):
    p = captured("retracing/second_model")
    again = {"retracing", "retracing-by-object", "retracing-by-shape", "retracing-by-value", "late-retracing"}
    assert not again & {*p.advice.table["rule"]}
    assert not any("had the" in note for note in p.functions.notes)


@pytest.mark.parametrize(("calls", "spared"), [(3, 1 / 3), (20, 18 / 20)])
def test_graphs_that_must_be_built_anyway_are_no_gain(found_by, calls, spared):
    """The graph of the first shape, and the one that serves all shapes."""
    cause = f"argument `x` had the shapes (8, 3), (8, 4): {GENERALISE}, or pad"
    row = {"function": "train_step", "mode": "traced-nonXla", "calls": calls, "tracings": calls, "cause": cause}
    functions = pd.DataFrame([row | {"new_shapes": 1, "expensive_call_percent": 90.0, "self_ms": 800.0}])
    evidence = SimpleNamespace(
        functions=SimpleNamespace(table=functions),
        steps=SimpleNamespace(table=pd.DataFrame({"step_ms": [500.0, 500.0]})),
        code=Code({"cell": "@tf.function\ndef train_step(x):\n    return x"}),
    )
    (found,) = found_by(evidence, "retracing-by-shape")
    assert found.gain_high_percent == found.estimated_gain_percent == pytest.approx(80 * spared)
