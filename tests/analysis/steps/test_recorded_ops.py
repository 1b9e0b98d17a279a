"""Steps whose ops were not recorded: their times count, and what they did is taken from the others."""

import numpy as np
import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.ops.ops import ops
from tfprof_nb.analysis.steps.breakdown import CATEGORIES
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps
from tfprof_nb.analysis.verdict import input_verdict
from tfprof_nb.formats.marks import EPOCH, FETCH, OPS_BEGIN, OPS_END

PARTS = [*CATEGORIES, "other_ms"]
RECORDED, STEPS = 4, 12


@pytest.fixture
def drawn():
    """Four steps of 900 us with their ops, and eight of 600 us without."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for number in range(STEPS):
        at, length = 1 + 1000 * number, 900 if number < RECORDED else 600
        python.event("train", start_us=at, duration_us=length, step_num=number, _r=1)
        if number < RECORDED:
            python.event("IteratorGetNext", start_us=at + 10, duration_us=180)
            python.event("MatMul:MatMul", start_us=at + 200, duration_us=450)
    python.event(OPS_END, start_us=4000, duration_us=1)
    return forest(space)


def test_parts_are_estimated_and_add_up(drawn):
    result = steps([drawn], [group_events(drawn)])
    table = result.table
    assert table["ops_recorded"].tolist() == [True] * RECORDED + [False] * (STEPS - RECORDED)
    np.testing.assert_allclose(table[PARTS].sum(axis=1), table["step_ms"])
    assert table["input_ms"].tolist() == pytest.approx([0.18] * 4 + [0.12] * 8)
    assert table["host_compute_ms"].iloc[-1] == pytest.approx(0.3)


def test_averages_are_those_of_steps_that_no_recording_slowed(drawn):
    result = steps([drawn], [group_events(drawn)])
    assert result.summary["step_ms_mean"] == pytest.approx(0.6)
    assert result.slowdown == pytest.approx(1.5)
    assert any("1.5 times as long" in note for note in result.notes)
    assert len(result.recorded) == RECORDED
    assert len(result.measured) == STEPS


def test_a_recorded_op_stands_for_those_that_were_not(drawn):
    alone = ops([drawn]).table.set_index("op_type")
    table = ops([drawn], (), [group_events(drawn)]).table.set_index("op_type")
    assert (alone.loc["MatMul", "occurrences"], table.loc["MatMul", "occurrences"]) == (RECORDED, STEPS)
    # The steps of 600 us have two thirds of the time in their ops.
    assert table.loc["MatMul", "total_us"] == pytest.approx(450 * 4 + 300 * 8)


def test_a_long_first_run_of_a_session_stands_for_no_other():
    """Variables are initialised in a recorded run that is as long as all the others together."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for number in range(STEPS):
        at, length = 10_000 * number, 9000 if number == 1 else 800
        python.event("SessionRun", start_us=at, duration_us=length, step_num=number, _r=1)
        if number < RECORDED:
            kind = "RandomStandardNormal" if number == 1 else "MatMul"
            python.event(f"{kind}:{kind}", start_us=at + 10, duration_us=length - 20)
    python.event(OPS_END, start_us=10_000 * RECORDED - 100, duration_us=1)
    drawn = forest(space)
    counts = ops([drawn], (), [group_events(drawn)]).table.set_index("op_type")["occurrences"]
    assert counts.to_dict() == {"RandomStandardNormal": 1, "MatMul": STEPS - 1}


def test_first_steps_of_passes_which_wait_stand_only_for_such_steps():
    """Of three epochs of ten steps, the ops of each first step are recorded, and those of the first five."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for number in range(30):
        at, is_first, wait_us = 1 + 1000 * number, number % 10 == 0, 500 if number % 10 == 0 else 50
        python.event("train", start_us=at, duration_us=600, step_num=number, _r=1, **{EPOCH: number // 10})
        if is_first and number:
            python.event(OPS_BEGIN, start_us=at - 0.5, duration_us=0.1)
        if is_first or number < 5:
            python.event("IteratorGetNext", start_us=at + 10, duration_us=wait_us)
        if number == 4 or (is_first and number):
            python.event(OPS_END, start_us=at + 601, duration_us=0.1)
    read = forest(space)
    table = steps([read], [group_events(read)]).table
    assert table.index[table["ops_recorded"]].tolist() == [0, 1, 2, 3, 4, 10, 20]
    assert table["input_ms"].tolist() == pytest.approx([0.5 if number % 10 == 0 else 0.05 for number in range(30)])


def test_first_steps_that_are_much_longer_wait_where_no_such_step_was_recorded():
    """Of two epochs of ten steps, the ops of the first five are recorded; the second epoch begins with a wait."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for number in range(20):
        at, length = 1 + 9000 * number, 8600 if number == 10 else 600
        python.event("train", start_us=at, duration_us=length, step_num=number, _r=1, **{EPOCH: number // 10})
        if 0 < number < 5:
            python.event("MatMul:MatMul", start_us=at + 100, duration_us=400)
        if not number:
            python.event("train_step", start_us=at, duration_us=600, tf_function_call="traced-nonXla")
    python.event(OPS_END, start_us=9000 * 5, duration_us=1)
    read = forest(space)
    table = steps([read], [group_events(read)]).table
    assert table["input_ms"].tolist() == pytest.approx([0.0] * 10 + [8.0] + [0.0] * 9)
    np.testing.assert_allclose(table[PARTS].sum(axis=1), table["step_ms"])


def test_fetches_from_python_are_known_of_all_steps():
    """Of four steps, ops are recorded, and they wait for 100 us; of the others, marks say how long they wait."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    waits_us = [100] * 4 + [50, 200, 300, 400]
    for number, wait_us in enumerate(waits_us):
        at, is_recorded = 1 + 1000 * number, number < 4
        python.event("train", start_us=at, duration_us=900, step_num=number, _r=1)
        python.event("IteratorGetNext" if is_recorded else FETCH, start_us=at + 10, duration_us=wait_us)
        if is_recorded:
            python.event("MatMul:MatMul", start_us=at + 450, duration_us=400)
    python.event(OPS_END, start_us=4000, duration_us=1)
    read = forest(space)
    table = steps([read], [group_events(read)]).table
    assert table["input_ms"].tolist() == pytest.approx([wait_us / 1000 for wait_us in waits_us])
    np.testing.assert_allclose(table[PARTS].sum(axis=1), table["step_ms"])
    assert table["host_compute_ms"].iloc[-1] == pytest.approx(0.5 * 400 / 800)  # half of what is not known


def test_steps_that_wait_at_the_start_of_each_pass_wait_also_where_only_the_first_was_recorded():
    """Four passes of ten steps begin with a wait of 50 ms; the ops of the first eight steps are recorded."""
    space = XSpace()
    python, at = space.plane("/host:CPU").line("python"), 1
    for number in range(40):
        fetch_us = 50_000 if number % 10 == 0 else 10
        python.event(FETCH, start_us=at, duration_us=fetch_us)
        python.event("train", start_us=at, duration_us=fetch_us + 500, step_num=number, _r=1)
        if number < 8:
            python.event("IteratorGetNext", start_us=at + 1, duration_us=fetch_us - 2)
        at += fetch_us + 600
        if number == 7:
            python.event(OPS_END, start_us=at - 50, duration_us=1)
    read = forest(space)
    found = steps([read], [group_events(read)])
    assert found.table["input_ms"].iloc[[0, 10, 20, 30]].tolist() == pytest.approx([50] * 4, rel=0.01)
    assert input_verdict(found).verdict == "highly"


def test_without_events_that_say_so_all_was_recorded():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for number in range(3):
        python.event("train", start_us=1000 * number, duration_us=900, step_num=number, _r=1)
    whole = forest(space)
    assert steps([whole], [group_events(whole)]).table["ops_recorded"].all()


def test_calls_of_functions_are_steps_also_where_no_ops_were_recorded():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for number in range(STEPS):
        at = 1 + 1000 * number
        python.event("train_step", start_us=at + 200, duration_us=700, tf_function_call="notTraced-nonXla")
        if number < RECORDED:
            python.event("IteratorGetNext", start_us=at + 10, duration_us=180)
            python.event("EagerLocalExecute: __inference_train_step_9", start_us=at + 250, duration_us=600)
            python.event("FunctionRun", start_us=at + 300, duration_us=500, _r=1)
    python.event(OPS_END, start_us=4000, duration_us=1)
    whole = forest(space)
    table = steps([whole], [group_events(whole)]).table
    assert table["ops_recorded"].tolist() == [True] * RECORDED + [False] * (STEPS - RECORDED)
    assert table["step_name"].unique().tolist() == ["train_step"]
    assert table["step_ms"].iloc[1:].tolist() == pytest.approx([1.0] * (STEPS - 1))
    np.testing.assert_allclose(table[PARTS].sum(axis=1), table["step_ms"])
