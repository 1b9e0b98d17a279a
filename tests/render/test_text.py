"""The text form: fits a terminal, says the same as the pictures."""

import doctest
from dataclasses import replace

import pandas as pd
import pytest

from render import samples
from tfprof_nb.render import text
from tfprof_nb.render.panels import Column, Note, Table, Timeline


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(text).failed == 0


def test_no_line_is_wider_than_a_terminal():
    lines = text.text_view("t" * 300, samples.dashboard()).splitlines()
    assert max(map(len, lines)) <= text.WIDTH


def test_the_answer_comes_right_after_the_title():
    lines = text.text_view("baseline", samples.dashboard()).splitlines()
    assert lines[0] == "baseline"
    assert lines[2] == "HIGHLY input-bound: 75% of each step waits for data."


def test_split_is_in_proportion_and_named():
    _, bar, legend = text.draw(samples.split())
    # 98 columns between the ends: 75%, 24% and 1% of them, to whole columns.
    assert (bar.count("█"), bar.count("▓"), bar.count("▒")) == (74, 23, 1)
    assert "input 75.0 ms (75.0%)" in legend


def test_bars_are_in_proportion():
    _, first, second = text.draw(samples.bars())
    assert (first.count("█"), second.count("█")) == (40, 13)
    assert first.endswith("3.00 ms")


def test_steps_are_summed_up_without_warm_up():
    _, bars, summary, means = text.draw(samples.steps(10))
    assert len(bars) == 10
    assert summary == "step 0 to 9; ms: mean 3.00, min 3.00, max 3.00 without warm-up"
    assert means == "mean: host compute 1.00, input 2.00"


def test_columns_are_aligned_under_wrapped_headers():
    _, above, header, rule, first, *_ = text.draw(samples.ops(5))
    assert above.split() == ["self"]
    assert header.split() == ["name", "type", "count", "time", "share", "eager"]
    assert header.index("share") + len("share") == first.index("20.0%") + len("20.0%")
    assert {*rule} == {"─", " "}


def test_numbers_are_never_cut_and_columns_that_do_not_fit_are_announced():
    frame = pd.DataFrame({f"c{k}": [123_456_789.0] for k in range(20)})
    lines = text.draw(Table("", frame, [Column(f"c{k}", f"column {k}", "count") for k in range(20)]))
    assert lines[-1] == "7 of 20 columns; all columns in .table"
    assert lines[-2].split() == ["123,456,789"] * 7


def test_a_cut_table_says_so():
    assert text.draw(samples.ops(431))[-1] == "20 of 431 rows; all rows in .table"
    assert text.draw(replace(samples.ops(431), kept_in="timeline"))[-1] == "20 of 431 rows; all rows in .timeline"
    assert text.draw(replace(samples.ops(431), kept_in=""))[-1] == "20 of 431 rows"


def test_timeline_has_a_line_per_track():
    _, first, second, axis = text.draw(Timeline("Trace", samples.Events()))
    assert first.count("█") == second.count("█") == 32
    assert axis.endswith("2.00 s")


@pytest.mark.parametrize(("kind", "mark"), [("warning", "! "), ("advice", "→ "), ("empty", "– ")])
def test_notes_are_marked_by_kind(kind, mark):
    assert text.draw(Note("said", kind)) == [f"{mark}said"]


def test_control_characters_do_not_reach_the_terminal():
    assert "\x1b" not in text.text_view("t", [samples.ops(3), samples.bars(), Note("\x1b[31mred")])
