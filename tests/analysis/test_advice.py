"""Advice speaks with evidence, and is silent without."""

import pytest

from builders import XSpace
from tfprof_nb.analysis.advice import COLUMNS
from tfprof_nb.profiles import load


def advised(tmp_path, space):
    return load(space.write(tmp_path / "host.xplane.pb")).advice


def loop(**shares):
    """Steps of 1 ms; what is given waits, launches, copies ... for so many percent of each."""
    names = {"input": "IteratorGetNext", "compute": "MatMul:MatMul"}
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(5):
        python.event("train", start_us=1000 * i, duration_us=1000, step_num=i, _r=1)
        at = 1000 * i
        for kind, percent in shares.items():
            python.event(names[kind], start_us=at, duration_us=10 * percent)
            at += 10 * percent
    return space


def test_input_bound_steps_are_the_first_finding(tmp_path):
    result = advised(tmp_path, loop(input=60, compute=39))
    first = result.table.iloc[0]
    assert list(result.table.columns) == COLUMNS
    assert first["severity"] == "high"
    assert first["estimated_gain_percent"] == pytest.approx(60)
    assert "600 µs of the average step's 1.00 ms" in first["evidence"]
    assert "prefetch" in first["fix"]


def test_time_that_nothing_accounts_for(tmp_path):
    table = advised(tmp_path, loop(compute=90)).table
    assert table["finding"].tolist()[0] == "Python between ops takes time"
    assert table["severity"].tolist()[0] == "medium"


def test_a_dominant_op_is_named_as_information(tmp_path):
    table = advised(tmp_path, loop(compute=100)).table
    assert table["severity"].tolist() == ["info"]
    assert "MatMul" in table["finding"].iloc[0]


def test_without_evidence_there_is_none(tmp_path):
    space = XSpace()
    space.plane("/host:CPU")
    result = advised(tmp_path, space)
    assert len(result.table) == 0
    assert "Nothing in this profile" in result.notes[0]


def test_a_function_that_is_traced_again_and_again(tmp_path):
    space = loop(compute=100)
    python = space.plane("/host:CPU").line("other")
    for i in range(4):
        python.event("f", start_us=100 * i, duration_us=90, tf_function_call="traced-nonXla", tracing_count=i + 1)
    findings = advised(tmp_path, space).table["finding"].tolist()
    assert "f is traced again and again" in findings


def test_time_between_the_steps(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i, start_us in enumerate((0, 1000, 4000)):
        python.event("train", start_us=start_us, duration_us=1000, step_num=i, _r=1)
        python.event("MatMul:MatMul", start_us=start_us, duration_us=1000)
    found = advised(tmp_path, space).table.set_index("finding").loc["Much of the time lies between the steps"]
    assert "2.00 ms, 40% of the time" in found["evidence"].replace("40.0%", "40%")
