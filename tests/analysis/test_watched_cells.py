"""Runs of training cells beside each other: which is the same cell, how much slower it is, and what changed."""

import pytest

from tfprof_nb.analysis.watched_cells import history
from tfprof_nb.formats.watched_cells import WATCHED_CELLS, Interval, WatchedCell, append_cell, read_cells
from tfprof_nb.views.watched_cells import panels, sentences

DAY_S = 24 * 3600
TEXT = "model.fit(data, epochs=2)\nprint(1)"


def cell(step_ms=2.0, *, text=TEXT, began=1_795_800_000.0, batch=64, waiting_ms=0.1, others=0.1, **more):
    """A run of thirty intervals, of a second each."""
    times = step_ms if isinstance(step_ms, list) else [step_ms] * 30
    intervals = [
        Interval(second + 1.0, 500, ms, waiting_ms * (ms / times[0]), 10**9, others) for second, ms in enumerate(times)
    ]
    versions = more.pop("versions", {"TensorFlow": "2.20.0"})
    return WatchedCell("In[3]", text, began, len(times), batch, True, versions, intervals, **more)


def test_a_run_is_compared_per_example_with_the_one_before():
    found = history([cell(), cell(1.5, began=1_795_800_000.0 + 3 * DAY_S, batch=16)])
    row = found.table.loc[1]
    assert (row["compared_to"], row["steps"], row["batch"]) == (0, 15_000, 16)
    assert row["example_us"] == pytest.approx(93.75)
    assert row["times_as_long"] == pytest.approx(3.0)
    assert found.changed[1].batch == (64, 16)
    (said,) = sentences(found, 1)
    assert said.startswith("In[3] takes 3.0 times as long per example as on ")
    assert said.endswith("93.8 µs, 31.2 µs then. What changed: the batch, 64 to 16.")


def test_a_faster_run_is_one():
    found = history([cell(3.0), cell(1.5, text=TEXT.replace("epochs=2", "epochs=2, shuffle=False"))])
    assert found.changed[1].lines == [("model.fit(data, epochs=2)", "model.fit(data, epochs=2, shuffle=False)")]
    (said,) = sentences(found, 1)
    assert "is 2.0 times as fast per example as at" in said
    assert "`model.fit(data, epochs=2)` to `model.fit(data, epochs=2, shuffle=False)`" in said


def test_what_is_about_as_fast_says_nothing():
    found = history([cell(2.0), cell(2.2)])
    assert (found.changed, found.slower) == ({}, {})
    assert sentences(found, 1) == []


def test_a_difference_within_what_intervals_differ_says_nothing():
    found = history([cell([1.0, 3.0] * 15), cell([1.0, 3.0] * 14 + [3.0, 3.0])])
    assert found.changed == {}


def test_another_cell_is_not_compared():
    found = history([cell(), cell(9.0, text="gan.train(images)")])
    assert found.table["compared_to"].isna().all()
    assert found.summary == {"runs": 2, "cells": 2, "newest": 1}


def test_versions_waits_and_other_programs_are_named():
    before, now = cell(), cell(4.0, waiting_ms=1.9, others=1.6, versions={"TensorFlow": "2.21.0"})
    changed = history([before, now]).changed[1]
    assert changed.versions == {"TensorFlow": ("2.20.0", "2.21.0")}
    assert changed.waiting_ms == pytest.approx((0.1, 1.9))
    assert changed.other_processors == pytest.approx((0.1, 1.6))
    (said,) = sentences(history([before, now]), 1)
    assert "TensorFlow, 2.20.0 to 2.21.0" in said
    assert "other programs, which keep 1.6 processors busy (0.1 then)" in said


def test_steps_that_become_slower_have_a_beginning_and_a_cause():
    found = history([cell([2.0] * 20 + [6.0] * 20, waiting_ms=1.5)])
    slower = found.slower[0]
    assert (slower.first_ms, slower.last_ms) == (2.0, 6.0)
    assert slower.since_s == pytest.approx(20, abs=4)
    assert slower.waiting_ms == pytest.approx(3.0)
    (said,) = sentences(found, 0)
    assert said.startswith("Steps of In[3] became slower after ")
    assert said.endswith("2.00 ms, then 6.00 ms. Waiting for data grew by 3.00 ms.")


def test_a_typical_step_is_that_of_most_steps():
    run = cell()
    run.intervals[0] = run.intervals[0]._replace(step_ms=900.0, steps=1)  # the first traces
    assert history([run]).table["step_ms"][0] == 2.0


def test_without_a_batch_steps_are_compared():
    found = history([cell(batch=0), cell(8.0)])
    assert found.table["example_us"].isna()[0]
    assert found.table["times_as_long"][1] == pytest.approx(4.0)
    assert "per step" in sentences(found, 1)[0]


def test_nothing_is_shown_as_nothing():
    found = history([])
    assert found.table.empty
    (note,) = panels(found)
    assert "No cell has trained" in note.text


def test_the_history_survives_damage(tmp_path):
    for step_ms in (2.0, 5.0):
        append_cell(tmp_path / "new", cell(step_ms))
    file = tmp_path / "new" / WATCHED_CELLS
    good = file.read_text()
    broken = ["{", "[]", "null", '{"cell": 1}', good.splitlines()[0].replace("2.0", "NaN"), "\x00\xff"]
    file.write_text("\n".join([*broken, good]))
    cells, damaged = read_cells(tmp_path / "new")
    assert [history([one]).table["step_ms"][0] for one in cells] == [2.0, 5.0]
    assert damaged == len(broken)
    assert history(cells, damaged).notes == [f"{damaged} lines of the history can't be read."]
    assert read_cells(tmp_path / "none") == ([], 0)
