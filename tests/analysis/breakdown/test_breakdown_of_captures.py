"""The tree of real captures: it adds up, whatever they hold."""

from pathlib import Path
from statistics import median

import pytest

import tfprof_nb
from analysis.breakdown.adding_up import SAMPLED_MS, adds_up
from captures import archive, sources

# The ids of the parts that take most of these programs' time, by what the programs were written to do.
_LARGEST = {
    "benchmark/serial_map": "cell/train/step/wait/MapAndBatch",
    "benchmark/retrace_scalar": "cell/train/step/trace:sgd_step",
    "benchmark/slow_validation": "cell/validation",
    "benchmark/gc_collect": "cell/train/step/callback:ClearMemory.on_train_batch_end",
    "benchmark/rl_predict": "cell/predict",
    "benchmark/py_function_text": "cell/train/step/wait/MapAndBatch",
    "cells/eager_optimizer": "cell/train/step/optimizer:cell:4",
}
_TYPICALLY_UNEXPLAINED = 0.05
_ENDINGS = (".xplane.pb", ".json", ".json.gz")
_NO_PROFILES = ("expected.json", ".memory_profile.json.gz")


def captures(folder: Path):
    files = [file for file in sorted(folder.rglob("*")) if file.name.endswith(_ENDINGS)]
    return [file for file in files if not file.name.endswith(_NO_PROFILES)]


def test_children_add_up_to_their_parents(shared_data):
    """One capture of each folder."""
    files = {file.parents[1]: file for file in captures(shared_data)}
    assert len(files) > 3
    for file in files.values():
        adds_up(tfprof_nb.load(file).breakdown)


@pytest.mark.nightly
def test_children_add_up_to_their_parents_in_all_samples(shared_data):
    for file in captures(shared_data):
        adds_up(tfprof_nb.load(file).breakdown)


def test_children_add_up_in_the_cases(shared_data):
    files = sorted((shared_data.parent / "cases").glob("*.xplane.pb"))
    if not files:
        pytest.skip("the cases are not here")
    for file in files:
        adds_up(tfprof_nb.load(file).breakdown)


@pytest.mark.parametrize("name", _LARGEST)
def test_the_largest_part_of_a_recorded_program_is_named(captured, name):
    assert captured(name).breakdown.summary["largest"] == _LARGEST[name]


@pytest.mark.nightly
def test_recorded_programs_typically_have_next_to_nothing_that_is_unexplained(captured):
    found = [captured(name).breakdown.summary for name in sources.names() if archive.file_of(name).is_file()]
    assert len(found) > 50
    assert median(one["unexplained_share"] for one in found if one["cell_ms"] >= SAMPLED_MS) <= _TYPICALLY_UNEXPLAINED


@pytest.mark.parametrize("name", ["benchmark/retrace_shape", "benchmark/retrace_scalar"])
def test_tracing_is_counted_by_the_calls_that_trace_and_not_by_what_these_call(captured, name):
    profile = captured(name)
    tree, functions = profile.breakdown.table, profile.functions.table
    traced = functions[functions["mode"].str.startswith("traced")].set_index("function")["calls"]
    counted = tree[tree["kind"] == "trace"].groupby("name")["count"].sum()
    assert {f"tracing {function}": calls for function, calls in traced.items()} == dict(counted)


def test_ops_without_a_line_add_up_too(captured):
    """TensorFlow made some nodes of this graph: their traces have no line of the program."""
    adds_up(captured("loop_copy/scattered").breakdown)


def places_of(profile, ending):
    table = profile.breakdown.table
    return {*table.loc[table["id"].str.endswith(ending), "place"]}


def test_the_time_between_ops_has_the_line_that_calls_the_function(captured, place_of):
    program = "graph_python/numpy_in_both"
    assert places_of(captured(program), "/between_ops") == {place_of(program, "loop", "step(x)")}


def test_an_op_has_the_line_that_makes_it(captured, place_of):
    program = "graph_python/numpy_in_both"
    assert places_of(captured(program), "/op:PyFunc") == {place_of(program, "with_numpy", "tf.numpy_function(")}


def test_an_op_of_a_session_has_the_line_that_runs_it(captured):
    """Of a session's graph no lines are known."""
    assert places_of(captured("benchmark/healthy_tf1_session"), "/op:_MklMatMul") == {"cell line 5"}


def test_the_line_with_the_most_time_is_named_with_its_share(captured, place_of):
    program = "session/runs_fed_the_same"
    summary, python = captured(program).breakdown.summary, captured(program).python.table
    assert summary["line"] == place_of(program, "apart", "session.run(train")
    sampled = python[python["thread"] == "main"].groupby(["file", "line"])["self_ms"].sum()
    assert summary["line_share"] == pytest.approx(sampled.max() / sampled.sum(), abs=0.05)
