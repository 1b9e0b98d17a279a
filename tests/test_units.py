"""Numbers as text: written for people, so every expected text here was written by hand."""

import doctest

import pytest

from tfprof_nb import _units


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(_units).failed == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.00012345, "0.000123"),
        (0.9996, "1.00"),
        (9.996, "10.0"),
        (99.96, "100"),
        (999.4, "999"),
        (12345.6, "12,346"),
        (-0.5, "-0.500"),
        (float("inf"), "–"),
    ],
)
def test_number(value, text):
    assert _units.number(value) == text


@pytest.mark.parametrize(
    ("ps", "text"), [(1, "1.00 ps"), (1e3, "1.00 ns"), (250e6, "250 µs"), (1.5e12, "1.50 s"), (-2e9, "-2.00 ms")]
)
def test_duration_takes_the_largest_unit_that_fits(ps, text):
    assert _units.duration(ps) == text


@pytest.mark.parametrize("value", [0.0004, 0.049])
def test_a_percentage_that_is_not_zero_does_not_read_as_zero(value):
    assert _units.percent(value) == "<0.1%"


@pytest.mark.parametrize("limit", [2, 5, 10])
def test_shorten_keeps_both_ends_and_the_limit(limit):
    short = _units.shorten("abcdefghijklmnopqrstuvwxyz", limit)
    assert len(short) == limit
    assert short.startswith("a")
    assert "…" in short


def test_times_in_a_column_leave_their_unit_to_the_header():
    assert _units.cell(71200.0, "us") == "71,200"
    assert _units.amount(71200.0, "us") == "71.2 ms"
