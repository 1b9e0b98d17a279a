"""The forest of one host: which events enclose which, and which take no part."""

import numpy as np

from builders import XSpace, forest
from tfprof_nb.analysis.events.forest import Forest


def test_marks_of_the_thread_pool_take_no_part_in_nesting():
    space = XSpace()
    line = space.plane("/host:CPU").line("t")
    line.event("outer", start_us=0, duration_us=10)
    line.event("ThreadpoolListener::Record", start_us=5)
    line.event("inner", start_us=5, duration_us=1)
    found = Forest(forest(space).host.complete())
    depths = dict(zip(found.host.names[found.host.metadata], found.nesting.depth, strict=True))
    assert depths == {"outer": 0, "inner": 1, "ThreadpoolListener::Record": -1}
    assert [rows.size for rows in found.levels] == [1, 1]


def test_the_nearest_ancestor_is_the_innermost_and_on_the_same_thread():
    space = XSpace()
    plane = space.plane("/host:CPU")
    first, second = plane.line("a"), plane.line("b")
    first.event("a0", start_us=0, duration_us=10)
    first.event("a1", start_us=1, duration_us=8)
    first.event("a2", start_us=2, duration_us=2)
    second.event("b0", start_us=2, duration_us=2)
    found = forest(space)
    row = {name: int(np.flatnonzero(found.named(name))[0]) for name in ("a0", "a1", "a2", "b0")}
    rows = np.array([row["a0"], row["a1"], row["a2"], row["b0"]])
    assert found.nearest_ancestor(rows, rows[:2]).tolist() == [-1, 0, 1, -1]
    assert found.nearest_ancestor(rows, rows[:1]).tolist() == [-1, 0, 0, -1]
    assert found.outermost(rows).tolist() == [row["a0"], row["b0"]]


def test_values_of_some_events():
    space = XSpace()
    line = space.plane("/host:CPU").line("t")
    line.event("a", start_us=0, duration_us=1, number=7)
    line.event("b", start_us=2, duration_us=1)
    line.event("c", start_us=4, duration_us=1, number=9)
    host = forest(space).host
    assert host.ints("number").at(np.array([2, 1, -1, 0]), missing=-5).tolist() == [9, -5, -5, 7]
    assert host.ints("absent").at(np.array([0, 1])).tolist() == [-1, -1]


def test_an_analysis_runs_once_for_each_forest():
    asked = []

    def analysis(found):
        asked.append(found)
        return len(asked)

    space = XSpace()
    space.plane("/host:CPU").line("t").event("a")
    first, second = forest(space), forest(space)
    assert [first.once(analysis), second.once(analysis), first.once(analysis)] == [1, 2, 1]
    assert asked == [first, second]


def test_an_analysis_runs_once_for_what_it_is_given():
    asked = []

    def analysis(_, what):
        asked.append(what)
        return what * 2

    space = XSpace()
    space.plane("/host:CPU").line("t").event("a")
    found = forest(space)
    assert [found.once(analysis, what) for what in ("x", "y", "x")] == ["xx", "yy", "xx"]
    assert asked == ["x", "y"]


def test_events_are_found_by_few_names_and_by_many():
    space = XSpace()
    line = space.plane("/host:CPU").line("t")
    for number in range(60):
        line.event(f"op{number % 20}", start_us=number, duration_us=1)
    found = forest(space)
    names = found.host.names[found.host.metadata]
    for count in (0, 1, 8, 9, 20):
        wanted = [f"op{number}" for number in range(count)]
        assert found.named(*wanted).tolist() == [name in wanted for name in names]
