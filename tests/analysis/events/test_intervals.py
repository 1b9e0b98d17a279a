"""Shares of time by priority, against a picture drawn picosecond by picosecond."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfprof_nb.analysis.events.intervals import newly_covered, split_by_priority

SPANS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 12), st.sampled_from([10, 60, 110])))


def brute_force(spans, owners):
    """Paint each owner's time, low priorities first."""
    paint = np.zeros((owners, 60), dtype=int)
    for owner, start, length, priority in sorted(spans, key=lambda span: span[3]):
        paint[owner, start : start + length] = priority
    return {level: (paint == level).sum(axis=1).tolist() for level in (10, 60, 110)}


@given(SPANS)
def test_every_moment_goes_to_the_highest_priority(spans):
    columns = np.array(spans, dtype=np.int64).reshape(-1, 4)
    owner, start, length, priority = columns.T
    shares = split_by_priority(owner, start, start + length, priority, owners=3)
    painted = brute_force(spans, owners=3)
    assert {level: shares.get(level, np.zeros(3, int)).tolist() for level in painted} == painted


def test_the_sum_is_the_length_of_the_union():
    start, end = np.array([0, 1, 2, 50]), np.array([10, 3, 20, 55])
    assert newly_covered(start, end).tolist() == [10, 0, 10, 5]
    assert newly_covered(start[:0], end[:0]).sum() == 0
