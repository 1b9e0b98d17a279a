"""Numbers as text: written for people, so every expected text here was written by hand."""

import doctest
import json
from functools import partial
from pathlib import Path

import pytest

from tfprof_nb import _units

# The widgets' own tests read the same file: both write every number alike.
CASES = json.loads((Path(__file__).parents[1] / "js/src/lib/format.cases.json").read_text(encoding="utf-8"))


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(_units).failed == 0


@pytest.mark.parametrize(("kind", "value", "text"), [(kind, *case) for kind in CASES for case in CASES[kind]])
def test_numbers_read_as_in_the_widgets(kind, value, text):
    write = _units.duration if kind == "duration" else partial(_units.cell, kind=kind)
    assert write(float(value)) == text


@pytest.mark.parametrize("limit", [2, 5, 10])
def test_shorten_keeps_both_ends_and_the_limit(limit):
    short = _units.shorten("abcdefghijklmnopqrstuvwxyz", limit)
    assert len(short) == limit
    assert short.startswith("a")
    assert "…" in short


def test_times_have_the_unit_that_makes_them_short():
    assert [_units.cell(value, "us") for value in (6_378_055.0, 71_200.0, 0.5)] == ["6.38 s", "71.2 ms", "500 ns"]
