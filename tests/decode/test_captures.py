"""Real captures decode to what protobuf's own objects say."""

import os
from pathlib import Path

import numpy as np
import pytest

from decode import oracle
from tfprof_nb.decode import load_hosts, read_xspace

DATA = Path(os.environ.get("TFPROF_NB_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
CAPTURES = sorted(DATA.rglob("*.xplane.pb"))

pytestmark = pytest.mark.skipif(not CAPTURES, reason=f"no captures in {DATA}")


@pytest.mark.parametrize(
    "path", CAPTURES, ids=lambda path: path.parent.name if "tf2-gpu-pong" in str(path) else path.name
)
def test_every_event_and_stat_equals_protobufs(path):
    data = path.read_bytes()
    part, rows = read_xspace(data, "x"), oracle.rows(data)
    host = part.complete()
    lines = [(line.plane, line.id) for line in host.lines]
    columns = (host.start_ps, host.duration_ps, host.names[host.metadata], host.display_names[host.metadata])
    ours = zip(host.line.tolist(), *(column.tolist() for column in columns), strict=True)
    assert [(*lines[line], *values) for line, *values in ours] == [row[:-1] for row in rows]
    stats = [row[-1] for row in rows]
    for row in range(0, len(host), 50):
        assert host.stats_of(row) == stats[row]
    # Of the thread pool's marks the columns leave out the stats, which nothing uses.
    marks = np.array([row[4].startswith("ThreadpoolListener::") for row in rows])
    stats = [{} if mark else stats for stats, mark in zip(stats, marks, strict=True)]
    for name in {name for found in stats for name in found}:
        assert_column(host, name, [found.get(name) for found in stats])
    # Without them, all else is the same.
    assert (part.marks, part.recorded_events, part.end_ps) == (marks.sum(), len(rows), host.end_ps)
    for column in (lambda host: host.line, lambda host: host.metadata, lambda host: host.start_ps):
        assert column(part).tolist() == column(host)[~marks].tolist()
    assert [part.stats_of(row) for row in range(0, len(part), 50)] == [
        host.stats_of(row) for row in np.flatnonzero(~marks)[::50]
    ]


def assert_column(host, name, expected):
    """Compare the columns of one stat with its value for every row, None where a row has none."""
    is_text = [isinstance(value, str) for value in expected]
    is_number = [isinstance(value, int | float) for value in expected]
    texts, ints, floats = host.texts(name), host.ints(name), host.floats(name)
    assert texts.rows.tolist() == np.flatnonzero(is_text).tolist()
    assert texts.categories[texts.values].tolist() == [value for value in expected if isinstance(value, str)]
    numbers = [value for value in expected if isinstance(value, int | float)]
    assert ints.rows.tolist() == floats.rows.tolist() == np.flatnonzero(is_number).tolist()
    assert floats.values.tolist() == [float(value) for value in numbers]
    assert ints.values.tolist() == [oracle.as_int64(int(value)) for value in numbers]


@pytest.mark.parametrize("path", CAPTURES[:3], ids=lambda path: path.name)
def test_plane_stats_equal_protobufs(path):
    space = oracle.XSpace.FromString(path.read_bytes())
    (host,) = load_hosts([path])
    assert [(plane.name, plane.stats) for plane in host.planes] == [
        (plane.name, oracle.stats_of(plane, plane.stats)) for plane in space.planes
    ]
    assert (host.errors, host.warnings) == (tuple(space.errors), tuple(space.warnings))
