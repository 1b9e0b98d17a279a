"""Lanes: no two events of one lane overlap, and nesting alone decides where it can."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfprof_nb.analysis.events.nesting import nest
from tfprof_nb.analysis.trace.layout import lane_depths

EVENTS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 20)), max_size=40)


def ordered(events):
    columns = np.array(events, dtype=np.int64).reshape(-1, 3)
    return columns[np.lexsort((-columns[:, 2], columns[:, 1], columns[:, 0]))].T


@given(EVENTS)
def test_events_of_one_lane_never_overlap(events):
    line, start, length = ordered(events)
    depth = lane_depths(line, start, start + length)
    for lane in set(zip(line.tolist(), depth.tolist(), strict=True)):
        mine = np.flatnonzero((line == lane[0]) & (depth == lane[1]))
        ends = np.maximum(start[mine] + length[mine], start[mine] + 1)
        assert (start[mine][1:] >= ends[:-1]).all()


def test_nested_events_lie_at_their_depth():
    line, start, length = ordered([(0, 0, 100), (0, 10, 50), (0, 20, 5), (0, 70, 20), (1, 5, 5)])
    depth = lane_depths(line, start, start + length)
    assert depth.tolist() == nest(line, start, length).depth.tolist() == [0, 1, 2, 1, 0]
