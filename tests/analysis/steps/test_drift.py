"""Steps that become slower while the program runs, and what does not count as that."""

import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.steps.drift import Drift
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps
from tfprof_nb.views import steps as view


def measured(waits_us):
    """Steps of 600 us beside the wait for their data."""
    space, at = XSpace(), 0
    python = space.plane("/host:CPU").line("python")
    for number, wait_us in enumerate(waits_us):
        python.event("train", start_us=at, duration_us=600 + wait_us, step_num=number, _r=1)
        python.event("IteratorGetNext", start_us=at + 10, duration_us=wait_us)
        at += 1000 + wait_us
    read = forest(space)
    return steps([read], [group_events(read)])


def test_a_wait_that_grows_is_told_with_when_it_grew_and_by_how_much():
    found = measured([100] * 80 + [600] * 40)
    assert found.drift == Drift(0.7, 1.2, pytest.approx(80 * 1.1), "input_ms", pytest.approx(0.5))
    (note, _) = view.graph(found)
    for words in ("1.7 times slower", "700 µs at first", "1.20 ms", "88.0 ms into", "input grew by 500 µs"):
        assert words in note.text


@pytest.mark.parametrize(
    "waits_us",
    [
        [100] * 120,
        [100] * 60 + [900] * 20 + [100] * 40,  # a slow minute
        [100] * 119 + [90_000],  # a slow step
        [600] * 60 + [100] * 60,  # steps that became faster
        [100, 600] * 60,
        [100] * 20 + [600] * 20,  # too few to tell
    ],
)
def test_no_drift(waits_us):
    found = measured(waits_us)
    assert found.drift is None
    assert len(view.graph(found)) == 1


def test_a_drift_that_is_nearly_gone_at_the_end_is_told_as_one_of_the_end():
    found = measured([100] * 60 + [600] * 50 + [180] * 10)
    assert found.drift.since_ms == pytest.approx(found.table["start_ms"].iloc[110])


def test_steps_whose_parts_are_not_known_where_they_are_slow_have_no_part():
    found = measured([100] * 80 + [600] * 40)
    found.table.loc[60:, "ops_recorded"] = False
    assert found.drift.part == ""
