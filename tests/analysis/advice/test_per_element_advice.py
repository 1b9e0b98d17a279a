"""A map that is called for each example, though one call could take a batch."""

from types import SimpleNamespace

import pandas as pd
import pytest

from tfprof_nb.analysis.advice.rules.input.map_per_element import cause as per_element
from tfprof_nb.analysis.source.code import Code

RULE = "map-per-element"


def test_a_map_of_rows_is_told_to_take_batches(advised, place_of, the_one):
    found = the_one(advised("per_element/by_row"), RULE)
    assert found["finding"].startswith("Steps wait for their data: scale is called for each single example")
    assert found["place"] == place_of("per_element/by_row", "by_row", ".map(scale)")
    assert "runs 200 times for one batch" in found["evidence"]
    assert found["change"] == "fit(tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(200).map(scale))"


@pytest.mark.parametrize(
    ("busy", "computing", "beside_percent"), [(1.9, 10.0, 6.25), (0.9, 20.0, 0.0), (0.9, 120.0, 6.25)]
)
def test_what_other_stages_take_of_a_call_is_not_saved(busy, computing, beside_percent):
    """Of a call of 20 ms, the map takes 8 ms; it works for 50 of the steps' 200 ms, on 2 cores that are busy."""
    stage = "Iterator::Root::Batch::Map"
    calls = {"long_name": ["Iterator::Root::Batch", stage, f"{stage}::Filter"], "calls": [1, 32, 40]}
    ops = {"file": "cell", "line": [1], "op_type": "Mul", "op_ms": [0.1], "occurrences": [100]}
    evidence = SimpleNamespace(
        line_of=lambda _name: "cell line 4",
        code=Code({"cell": "def half(x):\n    return x / 2\n\ndata = files.map(half).batch(32)"}),
        tf_data=SimpleNamespace(
            table=pd.DataFrame(calls), summary={"bottleneck_long_name": stage, "bottleneck_ms": 8.0, "latency_ms": 20.0}
        ),
        source=lambda: SimpleNamespace(all_ops=pd.DataFrame(ops)),
        ops=SimpleNamespace(table=pd.DataFrame({"op_name": [stage], "self_us": [50_000.0]})),
        steps=SimpleNamespace(table=pd.DataFrame({"step_ms": [100.0, 100.0], "host_compute_ms": computing})),
        own_cores=(busy, 2),
    )
    cause = per_element(evidence)
    assert cause.name == "half is called for each single example"
    assert (cause.share, cause.beside_percent) == (0.4, beside_percent)


def test_a_slow_filter_is_not_taken_for_the_map_behind_it(advised, place_of, the_one):
    found = the_one(advised("per_element/by_filter"), "slow-stage")
    assert found["finding"].startswith("Steps wait for their data: Filter is slow")
    assert place_of("per_element/by_filter", "by_filter", ".filter(") in found["evidence"]


def test_a_function_that_would_mix_the_rows_is_told_to_be_rewritten(advised, the_one):
    found = the_one(advised("per_element/by_row_of_other_shape"), RULE)
    assert found["finding"].startswith("Steps wait for their data: first_half is called for each single")
    assert found["change"] == ""
    assert "Write first_half for whole batches" in found["fix"]
    assert "after `.batch(200)`" in found["fix"]


def test_a_map_of_batches_is_not(advised):
    assert RULE not in advised("per_element/by_batch")["rule"].tolist()
