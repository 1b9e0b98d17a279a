"""Levels of detail: whatever is merged keeps its place, and nothing is lost or counted twice."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfprof_nb.analysis.trace.slices import events_within, merge, slices_of

GAPS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 60), st.integers(0, 4)), max_size=30)
LANES = st.lists(GAPS, min_size=1, max_size=4)


def columns(lanes):
    """Make lanes of events that do not overlap from gaps, lengths and names."""
    bounds, start, end, name = [0], [], [], []
    for lane in lanes:
        at = 0
        for gap, length, code in lane:
            start.append(at + gap)
            end.append(at + gap + length)
            name.append(code)
            at = end[-1]
        bounds.append(len(start))
    return np.array(bounds), np.array(start, np.int64), np.array(end, np.int64), np.array(name, np.int32)


@given(LANES, st.integers(0, 300), st.integers(0, 300))
def test_within_is_what_touches_the_stretch(lanes, one, other):
    bounds, start, end, name = columns(lanes)
    begin, stop = sorted((one, other))
    rows, inner = events_within(bounds, start, end, begin, stop)
    # Lanes with events of no length side by side are in order of their starts, and so of their ends.
    expected = [i for i in range(len(start)) if start[i] <= stop and end[i] >= begin]
    assert rows.tolist() == expected
    lane_of = np.repeat(np.arange(len(lanes)), np.diff(bounds))
    assert np.repeat(np.arange(len(lanes)), np.diff(inner)).tolist() == lane_of[rows].tolist()
    assert slices_of(inner, start, end, name, rows).start_ps.tolist() == start[rows].tolist()


@given(LANES, st.floats(1, 80))
def test_merged_slices_stand_for_every_event_once(lanes, bin_ps):
    bounds, start, end, name = columns(lanes)
    merged = merge(slices_of(bounds, start, end, name), bin_ps)
    assert merged.events.sum() == len(start)
    assert merged.busy_ps.sum() == (end - start).sum()
    first = np.cumsum(merged.events) - merged.events
    for k, (at, count) in enumerate(zip(first.tolist(), merged.events.tolist(), strict=True)):
        run = slice(at, at + count)
        assert (merged.start_ps[k], merged.end_ps[k]) == (start[at], end[run].max())
        longest = at + int(np.argmax((end - start)[run]))
        assert (merged.event[k], merged.name[k]) == (longest, name[longest])
        # What is merged is short; a long one stands by itself.
        assert count == 1 or ((end - start)[run] < bin_ps).all()


@given(LANES, st.floats(1, 80))
def test_merging_keeps_lanes_and_order(lanes, bin_ps):
    bounds, start, end, name = columns(lanes)
    merged = merge(slices_of(bounds, start, end, name), bin_ps)
    lane_of = np.repeat(np.arange(len(lanes)), np.diff(bounds))
    assert merged.lane.tolist() == lane_of[merged.event].tolist()
    same = np.diff(merged.lane) == 0
    assert (merged.start_ps[1:][same] >= merged.end_ps[:-1][same]).all()


@given(LANES, st.floats(1, 80))
def test_a_lane_has_few_slices_a_bin_however_many_events(lanes, bin_ps):
    merged = merge(slices_of(*columns(lanes)), bin_ps)
    for first, last in pairwise(merged.bounds.tolist()):
        starts = merged.start_ps[first:last] // bin_ps
        # The short ones, and one long event that starts in the bin and ends beyond it.
        assert len(starts) == 0 or np.bincount(starts.astype(int)).max() <= 2
