"""Elements that a map makes and a later stage drops, by small tables."""

from types import SimpleNamespace

import pandas as pd
import pytest

from tfprof_nb.analysis.advice.rules.input.dropped_elements import cause as dropped_elements
from tfprof_nb.analysis.source.code import Code

TEXT = "ds = files.map(read)\nds = ds.filter(is_cat).batch(8)\nrest = ds.skip(16)\nmine = ds.shard(4, k)"


@pytest.fixture
def evidence():
    """A slow call in which a stage hands on 8 elements, and its map made so many."""

    def make(stage, made, slow="ParallelMap"):
        path = f"Iterator::Root::Batch::{stage}"
        names = ["Iterator::Root::Batch", path, f"{path}::ParallelMapV2", f"{path}::ParallelMapV2::TensorSlice"]
        table = pd.DataFrame({"long_name": names, "calls": [1, 8, made if stage == "Filter" else 9, made]})
        steps = pd.DataFrame(
            {"host": "vm", "phase": "train", "epoch": [0, 0, 1, 1], "input_ms": [30.0, 10.0, 50.0, 10.0]}
        )
        lines = {"Dataset_map_": "cell line 1", "Dataset_filter_": "cell line 2"}
        return SimpleNamespace(
            tf_data=SimpleNamespace(table=table, summary={"bottleneck_long_name": path if slow == stage else names[2]}),
            steps=SimpleNamespace(table=steps),
            code=Code({"cell": TEXT}),
            line_of=lambda name: lines[name],
        )

    return make


@pytest.mark.parametrize("slow", ["Filter", "ParallelMap"])
def test_a_filter_behind_the_map_drops_what_that_made(evidence, slow):
    cause = dropped_elements(evidence("Filter", 40, slow))
    assert cause.name == "read makes elements that `.filter(is_cat)` drops"
    assert "40 elements were made for 8 that were kept" in cause.evidence
    assert (cause.place, cause.share) == ("cell line 2", 0.8)


def test_a_skip_behind_the_map_makes_the_first_steps_wait(evidence):
    cause = dropped_elements(evidence("FiniteSkip", 24))
    assert cause.name == "read makes elements that `.skip(16)` drops"
    assert (cause.place, cause.share) == ("cell line 3", 0.8)


def test_a_shard_behind_the_map_drops_in_each_call(evidence):
    cause = dropped_elements(evidence("Shard", 32))
    assert cause.name == "read makes elements that `.shard(4, k)` drops"
    assert (cause.place, cause.share) == ("cell line 4", 0.75)


def test_a_filter_that_keeps_most_is_no_cause(evidence):
    assert dropped_elements(evidence("Filter", 10)) is None
    assert dropped_elements(evidence("Shuffle", 40)) is None
