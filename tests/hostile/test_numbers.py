"""Numbers that no program writes: they cost neither memory nor a wrong result."""

import json
import subprocess
import sys

import numpy as np
import pytest

from builders import XSpace, forest
from fuzz.checks import OUTPUTS, check
from fuzz.seeds import run_metadata
from tfprof_nb import load
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps
from tfprof_nb.decode.run_metadata import MESSAGES

GROUPS = [2**28, 2**40, -(2**63), 2**63 - 1]


def marked(*groups, **times):
    """A step mark and an op in it for each group."""
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for number, group in enumerate(groups):
        about = {"step_num": number, "_r": 1, "group_id": group, "step_name": str(number)}
        line.event("train", **{"start_us": 100 * number, "duration_us": 90} | times, **about)
        line.event("MatMul:MatMul", start_us=100 * number + 10, duration_us=20, group_id=group)
    return space


def limited(code, mebibytes):
    """Run code in a process that may use little more memory than importing the package takes."""
    limit = f"import resource, tfprof_nb as tp; resource.setrlimit(resource.RLIMIT_AS, ({mebibytes} << 20,) * 2); "
    return subprocess.run([sys.executable, "-c", limit + code], check=False, capture_output=True, text=True)


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_of_any_number_takes_no_memory(tmp_path, group):
    path = marked(1, group).write(tmp_path / "m.xplane.pb")
    done = limited(f"p = tp.load({str(path)!r}); print(p.steps); print(p.overview)", 2500)
    assert done.returncode == 0, done.stderr


def test_groups_of_large_numbers_are_steps_like_others():
    def table(*groups):
        events = forest(marked(*groups))
        return steps([events], [group_events(events)]).table

    assert table(2**40, 2**28).equals(table(2, 1))
    assert table(2**40, 2**28)["step_ms"].tolist() == [0.09, 0.09]


def test_a_negative_group_is_no_group():
    space = marked(7, 8)
    space.planes[0].lines[0].event("later", start_us=500, group_id=-5)
    assert group_events(forest(space)).group.tolist() == [7, 7, 8, 8, -1]


@pytest.mark.parametrize("count", [32_767, 32_768, 40_000])
def test_events_nest_as_deep_as_they_are_many(count):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for _ in range(count):
        line.event("f", start_us=1, duration_us=5)
    events = forest(space)
    assert np.array_equal(events.nesting.depth, np.arange(count))
    assert len(events.levels) == count


def test_times_before_the_profile_and_of_negative_length_are_cut_and_noted(tmp_path):
    space = marked(1, 2)
    line = space.planes[0].lines[0]
    line.event("early", start_us=-30, duration_us=40)
    line.event("gone", start_us=-30, duration_us=10)
    line.event("backwards", start_us=10, duration_us=-40)
    p = load(space.write(tmp_path / "m.xplane.pb"))
    events = p.events.set_index("name")
    assert events.loc[["early", "gone", "backwards"], "duration_ps"].tolist() == [10_000_000, 0, 0]
    assert events["start_ps"].min() == 0
    assert sum("3 events have times that no capture has" in note for note in p.overview.notes) == 1


@pytest.mark.parametrize(
    "times", [{"duration_ps": -(2**62)}, {"start_ps": 2**63 - 1}, {"duration_ps": 2**63 - 1}, {"start_ps": -(2**63)}]
)
def test_times_beyond_all_bounds_never_become_negative_ones(tmp_path, times):
    p = load(marked(1, 2, **times).write(tmp_path / "m.xplane.pb"))
    assert (p.events[["start_ps", "duration_ps"]] >= 0).all(axis=None)
    assert ((p.events["start_ps"] + p.events["duration_ps"]) >= 0).all()
    assert (p.steps.table.filter(like="_ms").to_numpy() >= 0).all()
    assert p.overview.summary["capture_ms"] >= 0
    assert any("times that no capture has" in note for note in p.overview.notes)
    assert str(p)


def test_lines_days_apart_are_cut(tmp_path):
    space = XSpace()
    for days in (0, 200):
        thread = space.plane("/host:CPU").line("t", timestamp_ns=17 * 10**17 + days * 86_400 * 10**9)
        thread.event("a:A", duration_us=3)
    p = load(space.write(tmp_path / "m.xplane.pb"))
    assert (p.events["start_ps"] >= 0).all()
    assert any("1 events have times that no capture has" in note for note in p.overview.notes)


def test_hosts_whose_clocks_are_months_apart_are_compared(tmp_path):
    for number in range(2):
        space = XSpace()
        thread = space.plane("/host:CPU").line("t", timestamp_ns=17 * 10**17 + number * 107 * 86_400 * 10**9)
        for step in range(3):
            thread.event("train", start_us=100 * step, duration_us=90, step_num=step, _r=1)
        space.write(tmp_path / f"{number}.xplane.pb")
    p = load(tmp_path)
    assert p.pods.summary["steps"] == 3
    assert any("not plausible" in note for note in p.pods.notes)
    assert load([tmp_path / "0.xplane.pb", tmp_path / "1.xplane.pb"], as_runs=True).duration_ms < 10


def test_runs_with_groups_of_large_numbers_are_joined(tmp_path):
    paths = [marked(2**62, 2**62 + 1).write(tmp_path / f"{number}.xplane.pb") for number in range(3)]
    assert len(load(paths, as_runs=True).steps.table) == 6


@pytest.mark.parametrize("count", [200, 3000])
def test_durations_whose_sum_int64_does_not_hold_are_cut_and_noted(tmp_path, count):
    space = marked(1, 2)
    line = space.planes[0].lines[0]
    for _ in range(count):
        line.event("MatMul:MatMul", start_us=300, duration_ps=2**56)
    trace = [{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 9e11, "name": "a"}] * count
    (tmp_path / "t.json").write_text(json.dumps(trace))
    for path in (space.write(tmp_path / "m.xplane.pb"), tmp_path / "t.json"):
        p = load(path)
        assert any("all events together last for weeks. They are shown cut" in note for note in p.overview.notes)
        assert (p.ops.table.select_dtypes("number").fillna(0) >= 0).all(axis=None)
        assert p.events["duration_ps"].sum() > 0
        assert str(p)


@pytest.mark.parametrize("number", [2**62, 2**63 - 1, -(2**62)])
def test_steps_of_any_number_are_drawn(tmp_path, number):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for step in range(3):
        line.event("train", start_us=100 * step, duration_us=90, step_num=number - step, _r=1)
    assert check(tmp_path, "xspace", space.to_bytes(), OUTPUTS)


@pytest.mark.parametrize("value", [1e308, -1e308, 2**62, 1e-320])
def test_counters_of_any_value_are_drawn(tmp_path, value):
    counters = [{"ph": "C", "name": "m", "ts": ts, "pid": 1, "args": {"b": value}} for ts in range(3)]
    ops = [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 3, "args": {"flops": value}}]
    assert check(tmp_path, "chrome", json.dumps(counters + ops).encode(), OUTPUTS)


def session_run(**values):
    """A session's run in which all nodes have these values."""
    message = MESSAGES["RunMetadata"].FromString(run_metadata())
    for device in message.step_stats.dev_stats:
        for node in device.node_stats:
            for name, value in values.items():
                for part in (node, *node.memory, *(o.tensor_description.allocation_description for o in node.output)):
                    if name in part.DESCRIPTOR.fields_by_name:
                        setattr(part, name, value)
    return message.SerializeToString()


@pytest.mark.parametrize("start", [-(2**62), 2**63 - 1])
def test_a_session_of_another_age_is_read(tmp_path, start):
    assert check(tmp_path, "metadata", session_run(all_start_micros=start), OUTPUTS)


@pytest.mark.parametrize("size", [-5, 2**63 - 1])
@pytest.mark.parametrize("name", ["total_bytes", "live_bytes", "requested_bytes"])
def test_sizes_that_no_memory_has_are_cut_and_noted(tmp_path, name, size):
    data = session_run(**{name: size})
    assert check(tmp_path, "metadata", data, OUTPUTS)
    p = load(tmp_path / "h.pb")
    assert (p.graph.table.filter(like="bytes") >= 0).all(axis=None)
    assert (p.memory.timeline["memory_in_use_bytes"] >= 0).all()
    assert any("have sizes that no memory has" in note for note in p.overview.notes)
