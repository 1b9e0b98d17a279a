"""Ticks are few and round."""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from tfprof_nb.render import ticks as module
from tfprof_nb.render.ticks import ticks, whole_ticks


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(module).attempted > 0
    assert doctest.testmod(module).failed == 0


@given(st.floats(0, 1e12), st.floats(1e-6, 1e12))
def test_ticks_are_few_and_inside(low, length):
    found = ticks(low, low + length)
    assert len(found) <= 6
    # At the limits of what a float can tell apart, a tick may round past the end.
    assert all(low - 1e-9 * (low + length) <= t <= (low + length) * (1 + 1e-9) for t in found)


def test_whole_ticks_never_fall_between_steps():
    assert whole_ticks(10, 12) == [10.0, 11.0, 12.0]
