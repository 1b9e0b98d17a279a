"""Several runs as one: what they share stands once, what tells them apart stays apart."""

import pytest

from builders import XSpace
from tfprof_nb import load
from tfprof_nb._errors import TfprofError
from tfprof_nb.decode import read_xspace
from tfprof_nb.decode.merge import merge_runs


def run(name, steps):
    space = XSpace()
    python = space.plane("/host:CPU", about=name).line("python")
    stream = space.plane("/device:GPU:0").line("Stream #1(Compute)")
    for step in range(steps):
        at = 100 * step
        python.event("train", start_us=at, duration_us=90, step_num=step, _r=1, _pt=2, _p=step)
        python.event("launch", start_us=at + 1, duration_us=2, correlation_id=step)
        stream.event("kernel", start_us=at + 10, duration_us=5, correlation_id=step, tf_op=f"a/{name}:MatMul")
    return read_xspace(space.to_bytes(), name)


def test_definitions_stand_once_and_runs_follow_one_another():
    host = merge_runs([run("one", 2), run("two", 3)], "both")
    assert [plane.name for plane in host.planes] == ["/host:CPU", "/device:GPU:0"]
    assert [line.name for line in host.lines] == ["python", "Stream #1(Compute)", "runs"]
    assert len(set(host.names)) == len(host.names)
    assert len(host) == 2 * 3 + 3 * 3 + 2
    runs = [row for row, name in enumerate(host.names[host.metadata]) if name.startswith("run ")]
    assert host.names[host.metadata[runs]].tolist() == ["run 0: one", "run 1: two"]
    assert host.start_ps[runs].tolist() == [0, 194_800_000]  # apart by 2% of the mean length
    assert host.duration_ps[runs].tolist() == [190 * 10**6, 290 * 10**6]
    assert host.notes == ("2 runs are shown one after another, without the time between them.",)


def test_steps_and_kernels_of_different_runs_do_not_meet(tmp_path):
    paths = []
    for name, steps in (("one", 2), ("two", 3)):
        space = XSpace()
        python, stream = space.plane("/host:CPU").line("python"), space.plane("/device:GPU:0").line("Stream #1")
        for step in range(steps):
            python.event("train", start_us=100 * step, duration_us=90, step_num=step, _r=1)
            python.event("launch", start_us=100 * step + 1, duration_us=2, correlation_id=step)
            stream.event("kernel", start_us=100 * step + 10, duration_us=5, correlation_id=step)
        paths.append(space.write(tmp_path / f"{name}.xplane.pb"))
    profile = load(paths, as_runs=True)
    assert profile.name == "one and 1 more run"
    between = 10 + 2 * 10  # microseconds between steps of one run: from one run to the next does not count
    assert profile.overview.summary["between_steps_ms"] == pytest.approx(between / 1000)
    assert profile.steps.table.index.tolist() == [0, 1, 2, 3, 4]
    assert profile.steps.table["step_ms"].tolist() == pytest.approx([0.09] * 5)
    assert profile.steps.table["device_compute_ms"].tolist() == pytest.approx([0.005] * 5)


def test_stats_go_with_their_events():
    hosts = [run("one", 2), run("two", 3)]
    host = merge_runs(hosts, "both")
    texts = host.texts("tf_op")
    assert sorted(texts.categories[texts.values]) == ["a/one:MatMul"] * 2 + ["a/two:MatMul"] * 3
    assert set(host.names[host.metadata[texts.rows]]) == {"kernel"}
    for row in texts.rows:
        assert host.stats_of(int(row))["tf_op"] == texts.categories[texts.values[texts.rows.tolist().index(row)]]
    correlations = host.ints("correlation_id").values
    assert len(set(correlations.tolist())) == 5
    assert len(set(host.ints("_p").values.tolist())) == 5
    assert host.floats("none").rows.tolist() == []
    assert set(host.stat_names()) == {"step_num", "_r", "_pt", "_p", "correlation_id", "tf_op"}


def test_near_runs_of_known_times_keep_their_distance():
    def at(origin_ns, name):
        space = XSpace()
        space.plane("/host:CPU").line("t", timestamp_ns=origin_ns).event("e", start_us=0, duration_us=10)
        return read_xspace(space.to_bytes(), name)

    start = 1_700_000_000_000_000_000
    near = merge_runs([at(start + 30_000, "b"), at(start, "a")], "both")
    assert near.start_ps.tolist()[:2] == [0, 30_000_000]
    assert near.origin_ns == start
    far = merge_runs([at(start + 10**9, "b"), at(start, "a")], "both")
    assert far.start_ps.tolist()[:2] == [0, 10_200_000]
    assert far.notes


def test_runs_of_several_hosts_are_refused(tmp_path):
    folder = tmp_path / "plugins" / "profile" / "r"
    for name in "ab":
        space = XSpace()
        space.plane("/host:CPU").line("t").event("e")
        space.write(folder / f"{name}.xplane.pb")
    with pytest.raises(TfprofError, match="has 2 hosts"):
        load(folder, as_runs=True)


def test_a_logdir_stands_for_all_of_its_runs(tmp_path):
    for name in ("2024_05_01_10_00_00", "2024_05_02_10_00_00"):
        space = XSpace()
        space.plane("/host:CPU").line("t").event("e", duration_us=5)
        space.write(tmp_path / "plugins" / "profile" / name / "h.xplane.pb")
    profile = load(tmp_path, as_runs=True)
    assert profile.hosts == ("h",)
    assert len(profile.files) == 2
    names = profile.events["name"].tolist()
    assert sorted(names) == ["e", "e", "run 0: 2024_05_01_10_00_00", "run 1: 2024_05_02_10_00_00"]
