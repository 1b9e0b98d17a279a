"""Timelines of TensorFlow 1: real ones of other people, and what a small one must become."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfprof_nb import find_runs, load
from tfprof_nb.decode import load_hosts, load_run
from tfprof_nb.decode.chrome_trace import read_chrome_trace
from tfprof_nb.decode.session_runs import RUNS
from tfprof_nb.runs import resolve

PS_PER_US = 10**6


@pytest.fixture(scope="module")
def timelines(request):
    folder = request.getfixturevalue("shared_data") / "tf1-timeline"
    if not folder.is_dir():
        pytest.skip(f"no timelines in {folder}")
    return folder


def events_of(path):
    return json.loads(path.read_text())["traceEvents"]


def processes(events):
    return {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"}


def lanes(events):
    """Count and time of the ops of each process and lane, in whole microseconds."""
    names, count, total = processes(events), Counter(), Counter()
    for event in events:
        if event["ph"] == "X":
            count[names[event["pid"]], event["tid"]] += 1
            total[names[event["pid"]], event["tid"]] += event["dur"]
    return sorted((count[lane], total[lane]) for lane in count)


FILES = [
    "CPU/timeline_01.json",
    "CPU/timeline_02_step_0.json",
    "CPU/timeline_03_merged_5_runs.json",
    "GPU/timeline_01.json",
    "GPU/timeline_02_step_2.json",
    "GPU/timeline_03_merged_5_runs.json",
    "large/timeline_01.json",
    "with-memory/simple_timeline.json",
]


@pytest.mark.parametrize("name", FILES)
def test_every_lane_has_the_files_events_and_time(timelines, name):
    (host,) = load_hosts([timelines / name])
    ours = []
    for number, line in enumerate(host.lines):
        if line.name not in (RUNS, "allocators"):
            ours.append((line.last - line.first, int(host.duration_ps[host.line == number].sum()) // PS_PER_US))
    assert sorted(ours) == lanes(events_of(timelines / name))


@pytest.mark.parametrize(
    "name", ["GPU/timeline_01.json", "GPU/timeline_03_merged_5_runs.json", "large/timeline_01.json"]
)
def test_a_kernel_counts_once(timelines, name):
    events = events_of(timelines / name)
    names = processes(events)
    on_streams = [e for e in events if e["ph"] == "X" and "/stream:" in names[e["pid"]]]
    once = sum(e["dur"] for e in on_streams if "stream:all" not in names[e["pid"]])
    again = sum(e["dur"] for e in on_streams if "stream:all" in names[e["pid"]])
    assert again > 0
    profile = load(timelines / name)
    assert profile.ops.summary["device_self_us"] == once
    device = profile.events[profile.events["plane"].str.startswith("/device:")]
    assert device["duration_ps"].sum() > once * PS_PER_US  # the events themselves are all there
    assert profile.device_type == "Nvidia GPU"


def test_ops_of_the_host_are_those_of_the_cpu_and_the_launches(timelines):
    path = timelines / "GPU/timeline_02_step_1.json"
    names = processes(events_of(path))
    host = [e for e in events_of(path) if e["ph"] == "X" and names[e["pid"]].startswith("/job:")]
    # Names that begin with an underscore are the executor's own, and no ops.
    expected = Counter(e["args"]["name"] for e in host if not e["args"]["name"].startswith("_"))
    table = load(path).ops.table
    ours = table[table["side"] == "host"]
    assert dict(zip(ours["op_name"], ours["occurrences"], strict=True)) == expected


def test_a_folder_of_timelines_opens_as_runs_in_order_of_their_names(tmp_path):
    process = {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "/job:localhost/task:0/cpu:0 Compute"}}
    for step in (10, 2, 1):
        op = {"ph": "X", "name": "MatMul", "pid": 1, "tid": 0, "ts": 0, "dur": step, "args": {"name": f"op{step}"}}
        (tmp_path / f"timeline_step_{step}.json").write_text(json.dumps({"traceEvents": [process, op]}))
    (tmp_path / "package.json").write_text("{}")
    profile = load(tmp_path)
    assert profile.steps.table["step_ms"].tolist() == [0.001, 0.002, 0.01]
    assert (profile.name, profile.hosts) == (tmp_path.name, (tmp_path.name,))
    assert [run.name for run in find_runs(tmp_path)] == [tmp_path.name]


HOROVOD = [
    {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "grads/dense/kernel"}},
    {"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 0, "pid": 1},
    {"ph": "E", "ts": 90, "pid": 1},
    {"ph": "X", "name": "ALLREDUCE", "ts": 100, "dur": 40, "pid": 1},
]
TFPROF = [
    {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "Scope:0"}},
    {"ph": "X", "cat": "Op", "name": "_TFProfRoot", "pid": 0, "tid": 0, "ts": 0, "dur": 3498, "args": {}},
]


@pytest.mark.parametrize(("tool", "events"), [("Horovod", HOROVOD), ("tfprof", TFPROF)])
def test_drawings_of_other_tools_are_called_what_they_are(tmp_path, tool, events):
    path = tmp_path / "timeline.json"
    path.write_text(json.dumps(events))
    profile = load(path)
    assert profile.overview.summary["drawn_by"] == tool
    assert tool in profile.steps.notes[0]
    assert f"A timeline of {tool}, without steps." in str(profile)
    assert "model.fit" not in str(profile)


@pytest.mark.parametrize("scope", ["", "v0/"])
def test_waiting_for_data_is_told_by_the_type_of_the_op(tmp_path, scope):
    """A timeline has the type of an op as its event's name, and the op's name, with its scope, in the arguments."""
    process = {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "/job:localhost/task:0/cpu:0 Compute"}}
    events = [
        {"ph": "X", "name": kind, "pid": 1, "tid": 0, "ts": at, "dur": length, "args": {"name": name, "op": kind}}
        for kind, name, at, length in [("IteratorGetNext", f"{scope}next", 0, 8000), ("MatMul", "dense/x", 8000, 2000)]
    ]
    path = tmp_path / "timeline.json"
    path.write_text(json.dumps({"traceEvents": [process, *events]}))
    (step,) = load(path).steps.table.to_dict("records")
    assert (step["input_ms"], step["host_compute_ms"]) == (8, 2)


@pytest.mark.parametrize("device", ["CPU", "GPU"])
def test_a_merged_file_shows_its_runs_as_steps(timelines, device):
    path = timelines / device / "timeline_03_merged_5_runs.json"
    steps = load(path).steps
    assert steps.summary["source"] == "marked"
    assert steps.table["step_name"].tolist() == [f"session run {number}" for number in range(5)]
    # The file is in order of runs, and the CPU begins each with its node _SOURCE.
    events, cpu = events_of(path), next(pid for pid, name in processes(events_of(path)).items() if "cpu:0 Comp" in name)
    sources = [n for n, e in enumerate(events) if e["ph"] == "X" and e["pid"] == cpu and e["args"]["name"] == "_SOURCE"]
    bounds = [*sources, len(events)]
    for step, (first, last) in enumerate(pairwise(bounds)):
        ops = [event for event in events[first:last] if event["ph"] == "X"]
        length = max(e["ts"] + e["dur"] for e in ops) - min(e["ts"] for e in ops)
        assert steps.table["step_ms"].iloc[step] * 1000 == pytest.approx(length)


@pytest.mark.parametrize("device", ["CPU", "GPU"])
def test_cut_into_its_runs_and_merged_again_it_is_the_same(timelines, tmp_path, device):
    path = timelines / device / "timeline_03_merged_5_runs.json"
    events = events_of(path)
    (whole,) = load_hosts([path], ["merged"])
    marks = [e for e in events if e["ph"] == "M"]
    cpu = next(pid for pid, name in processes(events).items() if "cpu:0 Comp" in name)
    sources = [n for n, e in enumerate(events) if e["ph"] == "X" and e["pid"] == cpu and e["args"]["name"] == "_SOURCE"]
    bounds = [*sources, len(events)]
    parts = []
    for number, (first, last) in enumerate(pairwise(bounds)):
        parts.append(tmp_path / f"run_{number}.json")
        parts[-1].write_text(json.dumps({"traceEvents": marks + events[first:last]}))
    _, (merged,) = load_run(resolve(parts, as_runs=True))
    assert merged.origin_ns == whole.origin_ns
    assert described(merged) == described(whole)
    for stat in ("group_id", "step_num"):
        assert sorted(merged.ints(stat).values.tolist()) == sorted(whole.ints(stat).values.tolist())
    assert load(parts, as_runs=True).steps.table["step_ms"].tolist() == load(path).steps.table["step_ms"].tolist()


def described(host):
    """Every event by its place, name and time; lanes of one device are numbered per file."""
    places = [(host.planes[line.plane].name, line.name) for line in host.lines]
    columns = (host.names[host.metadata], host.start_ps, host.duration_ps)
    rows = zip(host.line.tolist(), *(column.tolist() for column in columns), strict=True)
    return sorted((*places[line], *row) for line, *row in rows)


def test_memory_is_what_tensorflow_counted(timelines):
    path = timelines / "with-memory/simple_timeline.json"
    events = events_of(path)
    start = min(e["ts"] for e in events if "ts" in e)
    counted = [(e["ts"] - start, *e["args"].items()) for e in events if e["ph"] == "C"]
    memory = load(path).memory
    timeline = memory.timeline
    ours = [
        (round(time * 1000), (allocator, in_use))
        for time, allocator, in_use in zip(
            timeline["time_ms"], timeline["allocator"], timeline["memory_in_use_bytes"], strict=True
        )
    ]
    assert ours == counted
    assert memory.summary["cpu"]["peak_bytes"] == 11_000_000
    assert set(memory.table["shape"]) == {"[250000]"}
    assert set(memory.table["data_type"]) == {"float"}
    assert "a01" in set(memory.table["op_name"])


def test_what_happens_between_runs_is_not_judged(timelines):
    overview = load(timelines / "CPU/timeline_03_merged_5_runs.json").overview
    assert overview.summary["verdict"] == "unknown"
    assert any("between" in note for note in overview.notes)


def small(*ops):
    """A timeline of ops (device, node, start, length)."""
    names = [*dict.fromkeys(device for device, *_ in ops)]
    marks = [
        {"ph": "M", "pid": n, "name": "process_name", "args": {"name": f"{name} Compute"}}
        for n, name in enumerate(names)
    ]
    spans = [
        {
            "ph": "X",
            "pid": names.index(device),
            "tid": 0,
            "ts": ts,
            "dur": dur,
            "name": "Op",
            "args": {"name": node, "op": "Op"},
        }
        for device, node, ts, dur in ops
    ]
    return read_chrome_trace(json.dumps({"traceEvents": marks + spans}).encode(), "host")


ARGS = st.one_of(
    st.none(),
    st.fixed_dictionaries({}, optional={"name": st.text(max_size=3), "op": st.none(), "input0": st.just("a")}),
    st.sampled_from(
        [
            {"snapshot": 3},
            {"snapshot": {"tensor_description": "requested_bytes: 8\nallocator_name: cpu"}},
            {"snapshot": {"tensor_description": "requested_bytes: eight"}},
        ]
    ),
)
EVENT = st.fixed_dictionaries(
    {"ph": st.sampled_from("XNODC"), "pid": st.integers(0, 2), "ts": st.integers(0, 9), "name": st.sampled_from("ab")},
    optional={"tid": st.integers(0, 1), "dur": st.integers(0, 5), "id": st.integers(0, 1), "args": ARGS},
)


@settings(deadline=None, max_examples=100)
@given(st.lists(EVENT, max_size=15))
def test_whatever_a_timeline_lacks_its_ops_are_all_there(events):
    mark = {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/cpu:0 Compute"}}
    host = read_chrome_trace(json.dumps([mark, *events]).encode(), "host")
    ops = [line.last - line.first for line in host.lines if line.name not in (RUNS, "allocators")]
    assert sum(ops) == sum(event["ph"] == "X" for event in events)
    assert (host.duration_ps >= 0).all()


def test_a_function_within_an_op_is_no_run_of_its_own():
    cpu = "/job:localhost/replica:0/task:0/device:CPU:0"
    host = small((cpu, "_SOURCE", 0, 1), (cpu, "call", 2, 10), (cpu, "_SOURCE", 3, 1), (cpu, "_SOURCE", 20, 1))
    marks = host.ints("step_num")
    assert host.start_ps[marks.rows].tolist() == [0, 20_000_000]
    assert host.duration_ps[marks.rows].tolist() == [12_000_000, 1_000_000]


def test_without_streams_of_its_own_all_streams_count_and_no_gpu_is_forgotten():
    gpu = "/device:GPU:1"
    host = small((f"{gpu}/stream:all", "a", 0, 5), ("/job:w/replica:0/task:0/device:GPU:0", "a", 0, 9))
    assert [plane.name for plane in host.planes] == ["/host:CPU", "/device:GPU:0", "/device:GPU:1"]
    assert all(line.id >= 0 for line in host.lines)


def test_tasks_have_planes_of_their_own():
    host = small(*((f"/job:worker/replica:0/task:{n}/cpu:0", "a", 0, 5) for n in range(2)))
    names = [plane.name for plane in host.planes]
    assert names[1:] == [f"/host:CPU (job:worker/replica:0/task:{n})" for n in range(2)]
    assert not np.any([name.startswith("/device") for name in names])


def test_copies_of_a_session_s_run_are_no_compute(timelines):
    path = timelines / "GPU/timeline_03_merged_5_runs.json"
    profile = load(path)
    assert (profile.steps.table["input_ms"] > 0).all()
    assert not any("copies on a device count" in note for note in profile.steps.notes)


def test_pages_about_what_no_session_records_say_so(timelines):
    profile = load(timelines / "CPU/timeline_01.json")
    for page in (profile.tf_data, profile.functions, profile.source):
        assert page.notes[0].endswith("a record of session.run has none.")
    assert profile.input_pipeline.notes[0] == "A record of session.run does not tell how the program gets its data."


def test_a_graph_of_which_no_parameters_are_known_claims_none(timelines):
    shown = str(load(timelines / "CPU/timeline_01.json").graph)
    assert "parameters" not in shown
    assert "memory requested" not in " ".join(shown.split())
    assert " 0 B" not in shown
    assert "|/job" not in shown
