"""Larger batches are advised only where the fixed cost of steps rules."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from tfprof_nb import _units
from tfprof_nb.analysis.advice.rules.graph.small_steps import _loop
from tfprof_nb.analysis.source.code import Code

RULE = "small-steps"


def test_a_batch_of_four(advised, place_of, the_one):
    table = advised("batch/of_four")
    found = the_one(table, RULE)
    assert found["finding"] == "The steps are small: 4 examples each"
    assert found["place"] == place_of("batch/of_four", "of_four", "batch_size=4, ")
    assert found["change"] == "model.fit(X, X[:, :1], batch_size=64, verbose=0)"
    # With 16 times as many examples per step, at most 15 of 16 parts of the steps are saved.
    assert 0 < found["gain_low_percent"] < found["gain_high_percent"] <= 100 * 15 / 16
    assert "python-between-ops" not in table["rule"].tolist()


def test_steps_that_recording_slowed_are_as_short_as_the_others(captured, found_by):
    """Few steps are recorded, and these may be slow: the others tell how long a step takes."""
    evidence = captured("batch/of_four")._evidence
    recorded = evidence.step_ops()
    slow = replace(recorded, steps_ms=20.0 * recorded.steps, ops=recorded.ops.copy())
    (found,) = found_by(replace(evidence, step_ops=lambda: slow), RULE)
    typical = evidence.steps.timed["step_ms"].median()
    assert found.evidence.startswith(f"A typical step takes {_units.milliseconds(typical)}.")


def test_a_loop_over_a_dataset_whose_batch_size_has_a_name(advised, place_of, the_one):
    found = the_one(advised("batch/named_size"), RULE)
    assert (found["change"], found["place"]) == ("BATCH = 48", place_of("batch/named_size", "", "BATCH = 3"))


def test_the_batch_that_keras_makes_is_set_where_it_gets_the_arrays(advised, place_of, the_one):
    found = the_one(advised("batch/made_by_keras"), RULE)
    assert found["place"] == place_of("batch/made_by_keras", "scores", "model.evaluate")
    assert "model.evaluate(X + k, X[:, :1], verbose=0, batch_size=256)" in found["change"]


def test_a_loop_over_a_dataset(advised, the_one):
    assert the_one(advised("batch/dataset"), RULE)["finding"].startswith("The steps are small: 2 examples")


@pytest.mark.parametrize(("call", "needs"), [("out, state = step(x, state)", True), ("out = step(x, 1)", False)])
def test_calls_that_need_one_another_are_known_by_their_loop(call, needs):
    row = {"thread": "main", "file": "cell", "line": 3, "library": "TensorFlow", "in_steps_ms": 5.0}
    code = Code({"cell": f"state = 0\nfor x in data:\n    {call}"})
    evidence = SimpleNamespace(python=SimpleNamespace(table=pd.DataFrame([row])), code=code)
    assert _loop(evidence) == ("cell line 2", needs)


def test_a_loop_that_waits_for_its_batches_is_the_one_that_calls_the_steps():
    row = {"thread": "main", "file": "cell", "line": 2, "library": "TensorFlow", "in_steps_ms": 5.0}
    code = Code({"cell": "for epoch in range(3):\n    for x in data:\n        step(x)"})
    evidence = SimpleNamespace(python=SimpleNamespace(table=pd.DataFrame([row])), code=code)
    assert _loop(evidence) == ("cell line 2", False)


def test_steps_that_compute_are_large_enough(advised):
    assert RULE not in advised("batch/large")["rule"].tolist()
