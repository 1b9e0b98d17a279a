"""Nesting of events on a line, against a stack that goes through them one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof_nb.analysis.events.nesting import nest

SPANS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 12)), max_size=40)
SPANS_AND_MASK = SPANS.flatmap(
    lambda spans: st.tuples(st.just(spans), st.lists(st.booleans(), min_size=len(spans), max_size=len(spans)))
)


def columns(spans):
    """Order the spans as a host does, and split them into columns."""
    rows = sorted(spans, key=lambda span: (span[0], span[1], -span[2]))
    return tuple(np.array([row[i] for row in rows], dtype=np.int64) for i in range(3))


def stack_parents(lines, starts, durations, include):
    """The nesting as the profiler's own grouping does it: pop until the top includes the event."""
    parents, stack = [-1] * len(lines), []
    for row in range(len(lines)):
        if not include[row]:
            continue
        end = starts[row] + durations[row]
        while stack and (lines[stack[-1]] != lines[row] or starts[stack[-1]] + durations[stack[-1]] < end):
            stack.pop()
        parents[row] = stack[-1] if stack else -1
        stack.append(row)
    return parents


def uncovered(row, parents, starts, durations):
    """Ticks of the row's span in which no child runs."""
    ticks = set(range(starts[row], starts[row] + durations[row]))
    for child, parent in enumerate(parents):
        if parent == row:
            ticks -= set(range(starts[child], starts[child] + durations[child]))
    return len(ticks)


def ancestors(row, parents):
    return 0 if parents[row] < 0 else 1 + ancestors(parents[row], parents)


@given(SPANS_AND_MASK)
def test_agrees_with_a_stack(spans_and_mask):
    lines, starts, durations = columns(spans_and_mask[0])
    include = np.array(spans_and_mask[1], dtype=bool)
    found = nest(lines, starts, durations, include)
    parents = stack_parents(lines, starts, durations, include)
    taking_part = [row for row in range(len(lines)) if include[row]]
    assert found.parent.tolist() == parents
    assert [found.depth[row] for row in taking_part] == [ancestors(row, parents) for row in taking_part]
    assert [found.self_ps[row] for row in taking_part] == [
        uncovered(row, parents, starts.tolist(), durations.tolist()) for row in taking_part
    ]
    assert not found.self_ps[~include].any()
    assert (found.depth[~include] == -1).all()


@pytest.mark.parametrize("longest", [20, 2_000, 150_000])
def test_agrees_with_a_stack_on_many_events(longest):
    random, count = np.random.default_rng(longest), 200_000
    durations = random.integers(0, 30, count) ** 2 // 10
    durations[random.integers(0, count, count // longest + 1)] = random.integers(0, longest, count // longest + 1)
    spans = zip(np.arange(count) // 120_000, random.integers(0, count, count), durations, strict=True)
    lines, starts, durations = columns(list(spans))
    include = random.random(count) < 0.8
    found = nest(lines, starts, durations, include)
    parents = stack_parents(lines.tolist(), starts.tolist(), durations.tolist(), include.tolist())
    assert found.parent.tolist() == parents
    depths = [-1] * count
    for row in np.flatnonzero(include).tolist():
        depths[row] = depths[parents[row]] + 1 if parents[row] >= 0 else 0
    assert found.depth.tolist() == depths


@given(SPANS)
def test_all_events_take_part_by_default(spans):
    lines, starts, durations = columns(spans)
    assert nest(lines, starts, durations).parent.tolist() == stack_parents(
        lines, starts, durations, [True] * len(lines)
    )


def test_a_child_may_touch_its_parents_ends():
    found = nest(*columns([(0, 0, 10), (0, 0, 4), (0, 4, 6), (0, 10, 0)]))
    assert found.parent.tolist() == [-1, 0, 0, 2]
    assert found.self_ps.tolist() == [0, 4, 6, 0]


def test_of_equal_spans_the_first_event_encloses_the_second():
    found = nest(*columns([(0, 5, 10), (0, 5, 10)]))
    assert found.parent.tolist() == [-1, 0]
    assert found.self_ps.tolist() == [0, 10]


def test_partly_overlapping_siblings_are_not_counted_twice():
    found = nest(*columns([(0, 0, 20), (0, 2, 8), (0, 5, 10)]))
    assert found.parent.tolist() == [-1, 0, 0]
    assert found.self_ps.tolist() == [20 - 13, 8, 10]


def test_lines_do_not_mix():
    found = nest(*columns([(0, 0, 100), (1, 10, 5)]))
    assert found.parent.tolist() == [-1, -1]


@pytest.mark.parametrize("depth", [1, 2, 1000])
def test_deep_nesting(depth):
    spans = [(0, level, 3000 - 2 * level) for level in range(depth)] + [(0, 3000, 1)]
    found = nest(*columns(spans))
    assert found.parent.tolist() == [*range(-1, depth - 1), -1]
    assert found.depth.tolist() == [*range(depth), 0]


def test_long_runs_of_siblings():
    spans = [(0, 0, 10_000)] + [(0, start, 1) for start in range(0, 10_000, 2)]
    found = nest(*columns(spans))
    assert (found.parent[1:] == 0).all()
    assert found.self_ps[0] == 5_000
