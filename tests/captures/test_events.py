"""A profile that was taken apart and made again: events lie in one another as before, at the same times to 10 µs."""

import numpy as np
import pytest

from builders import Ref, Uint, XSpace
from captures.events import TICK_NS, to_columns, to_file
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.decode import read_xspace

TICK_PS = 1000 * TICK_NS


@pytest.fixture
def twice():
    """Read a profile as it was written, and as it was made again."""

    def read(space):
        written = space.to_bytes()
        return [read_xspace(file, "host") for file in (written, to_file(*to_columns(written)))]

    return read


def nested():
    """Calls of 1 µs to 1 ms, each in the one before, on two threads, and one that outlives the call around it."""
    space = XSpace()
    plane = space.plane("/host:CPU", clock=3)
    for number in range(2):
        line = plane.line(f"thread {number}", timestamp_ns=10**18 + 5 * number)
        for start_us in (0, 2000):
            for depth, length_us in enumerate((1000, 40, 12, 3, 1)):
                line.event(f"call {depth}", start_us=start_us + depth / 10, duration_us=length_us, id=10**15 + depth)
        line.event("late", start_us=2030, duration_us=2000, parent_id=Uint(10**15 + 4))
    plane.line("nothing")
    return space


def test_events_lie_where_they_lay(twice):
    before, after = twice(nested())
    assert [line.name for line in after.lines] == [line.name for line in before.lines]
    assert after.names[after.metadata].tolist() == before.names[before.metadata].tolist()
    for name in ("start_ps", "duration_ps"):
        assert np.abs(getattr(after, name) - getattr(before, name)).max() <= TICK_PS
    assert (after.duration_ps > 0).all()
    every = np.arange(len(before))
    parents = [Forest(host).nearest_ancestor(every, every).tolist() for host in (before, after)]
    assert parents[0] == parents[1]


def test_ids_link_what_they_linked(twice):
    """They are numbered by the time of the first event that has one, whatever its name."""
    ids, parents = zip(
        *((host.ints("id").values, host.ints("parent_id").values) for host in twice(nested())), strict=True
    )
    assert np.array_equal(np.equal.outer(ids[0], ids[0]), np.equal.outer(ids[1], ids[1]))
    assert np.array_equal(np.equal.outer(ids[0], parents[0]), np.equal.outer(ids[1], parents[1]))
    assert ids[1].tolist() == [1, 2, 3, 4, 5] * 4
    assert parents[1].tolist() == [5] * 2


def test_stats_of_all_kinds_stay(twice):
    space = XSpace()
    plane = space.plane("/host:CPU", note="kept", size=7)
    plane.describe("op", display_name="short", flops=12)
    line = plane.line("python")
    values = [{"shape": "(2,3)", "cost": 0.5, "count": -3}, {"shape": Ref("(4,)")}, {"count": 2**40}, {}]
    for number, stats in enumerate(values):
        line.event("op", start_us=100 * number, duration_us=50, **stats)
    space.plane("/device:GPU:0").line("Stream #1").event("gemm", start_us=5, duration_us=90, shape="(9,)")
    before, after = twice(space)
    assert [(plane.name, plane.stats) for plane in after.planes] == [
        (plane.name, plane.stats) for plane in before.planes
    ]
    assert after.display_names.tolist() == before.display_names.tolist()
    for row in range(len(before)):
        assert after.stats_of(row) == before.stats_of(row)
