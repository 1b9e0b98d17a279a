"""Chrome traces written by us, and read again."""

import gzip
import json
from collections import Counter as Count

import numpy as np
import pytest

from builders import Uint, XSpace, forest
from tfprof_nb import TfprofError, load
from tfprof_nb.analysis.trace.counters import Counter
from tfprof_nb.export.chrome_trace import chrome_trace


def space():
    space = XSpace()
    cpu = space.plane("/host:CPU", cores=4)
    cpu.describe("a/MatMul:MatMul", display_name="MatMul", flops=12)
    python, worker = cpu.line("python", line_id=1 << 40), cpu.line('worker "1"/7')
    python.event("train", start_us=0, duration_us=90, step_num=3, _r=1, _pt=2, _p=Uint(2**64 - 5))
    worker.event("a/MatMul:MatMul", start_us=1.000001, duration_us=40, _ct=2, _c=Uint(2**64 - 5), half=0.5)
    worker.event("launch", start_us=4, duration_us=1, correlation_id=9, text="<é\n>", big=2**60)
    gpu = space.plane("/device:GPU:0", compute_cap_major=7)
    gpu.line("Stream #1").event("kernel", start_us=6, duration_us=2, correlation_id=9, tf_op="a/MatMul:MatMul")
    gpu.line("Steps", line_id=-559038737).event("3", start_us=6, duration_us=2)
    return space


COLUMNS = ["plane", "line", "name", "start_ps", "duration_ps"]


def table(profile):
    return profile.events[COLUMNS].astype(dict.fromkeys(COLUMNS[:3], str)).sort_values(COLUMNS, ignore_index=True)


def whole(value):
    """A value without regard to sign; what JavaScript would round is written as text."""
    text = str(value)
    return int(text) % 2**64 if text.lstrip("-").isdecimal() else value


@pytest.fixture
def profile(tmp_path):
    return load(space().write(tmp_path / "h.xplane.pb"))


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz", "h.trace.json.gz"])
def test_read_again_it_is_the_same_profile(profile, tmp_path, name):
    again = load(profile.to_chrome_trace(tmp_path / "made" / name))
    assert table(again).equals(table(profile))
    assert again.device_type == profile.device_type == "Nvidia GPU (Volta)"
    assert again.steps.table.drop(columns="host").equals(profile.steps.table.drop(columns="host"))
    assert again.ops.table.equals(profile.ops.table)
    (ours,), (theirs,) = profile.data.forests, again.data.forests
    assert [(line.id, line.name) for line in theirs.host.lines] == [(line.id, line.name) for line in ours.host.lines]
    for row in range(len(ours.host)):
        for stat, value in ours.host.stats_of(row).items():
            assert whole(theirs.host.stats_of(row)[stat]) == whole(value)


def test_counters_come_back_as_counters(tmp_path):
    program = XSpace()
    cpu = program.plane("/host:CPU")
    for k in range(3):
        cpu.line("python").event("MemoryAllocation", start_us=k, allocator_name="cpu", bytes_allocated=k, addr=k)
    cpu.line("_counters_").event("MXU utilisation", start_us=1, counter_value=12.5, group_id=7)
    cpu.line("_counters_").event("MXU utilisation", start_us=2, counter_value=25.0, group_id=7)
    captured = load(program.write(tmp_path / "h.xplane.pb"))
    written = captured.to_chrome_trace(tmp_path / "a.json")
    twice = load(load(written).to_chrome_trace(tmp_path / "b.json"))
    for profile in (captured, load(written), twice):
        assert len(profile.events) == 3
        assert {c["name"]: (c["times_ps"], c["values"]) for c in profile.trace.header()["counters"]} == {
            "MXU utilisation": ([10**6, 2 * 10**6], [12.5, 25.0]),
            "memory in use: cpu": ([0, 10**6, 2 * 10**6], [0, 1, 2]),
        }
        assert "_counters_" not in set(profile.trace.table["label"])


def test_the_values_of_a_foreign_counter_are_a_counter_each(tmp_path):
    path = tmp_path / "other.json"
    path.write_text('[{"ph":"C","pid":1,"ts":1,"name":"heap","args":{"used":5,"free":6}}]')
    drawn = load(path).trace.header()["counters"]
    assert [(counter["name"], counter["values"]) for counter in drawn] == [("heap: used", [5]), ("heap: free", [6])]


def test_every_real_capture_reads_again(shared_data, tmp_path):
    for file in (
        "tf2-gpu-multi-worker/plugins/profile/demo/34.83.195.179_6003.xplane.pb",
        "jax-tpu-inference/plugins/profile/demo/tpu.xplane.pb",
        "jax-rocm-conv/plugins/profile/demo/tw003.xplane.pb",
    ):
        profile = load(shared_data / file)
        again = load(profile.to_chrome_trace(tmp_path / "trace.json"))
        assert table(again).equals(table(profile))
        assert again.ops.table.equals(profile.ops.table)
        assert again.kernels.table.equals(profile.kernels.table)
        assert again.memory.allocators.equals(profile.memory.allocators)


def test_tensorflows_own_trace_is_the_profile_beside_it(shared_data):
    run = shared_data / "tf2-gpu-pong/plugins/profile/2021_06_08_07_33_49"
    ours, theirs = load(run / "loptt-linux.xplane.pb"), load(run / "loptt-linux.trace.json.gz")
    mine = Count(zip(*(ours.events[name] for name in COLUMNS), strict=True))
    found = Count(zip(*(theirs.events[name] for name in COLUMNS), strict=True))
    # It names the step's event after the step, and gives events without length a picosecond.
    other = [(name, duration) for _, _, name, _, duration in found - mine]
    assert all(name == "EagerKernelExecute 0" or duration == 1 for name, duration in other)
    left_out = {name for _, _, name, _, duration in mine - found if duration}
    assert left_out <= {"EagerKernelExecute", "0", "PrefetchProduce", "PrefetchConsume"}  # and what has no length
    assert theirs.steps.table["host_compute_ms"].tolist() == ours.steps.table["host_compute_ms"].tolist()
    assert theirs.ops.summary["device_self_us"] == pytest.approx(ours.ops.summary["device_self_us"])
    assert theirs.steps.table["step_ms"].tolist() == pytest.approx(ours.steps.table["step_ms"].tolist())


def parsed(forests, counters=()):
    return json.loads("".join(chrome_trace(forests, counters)))["traceEvents"]


def test_arrows_lead_from_cause_to_effect():
    events = parsed([forest(space(), "h")])
    flows = {}
    for event in events:
        if event.get("ph") in ("s", "f"):
            flows.setdefault(event["id"], {})[event["ph"]] = (event["pid"], event["tid"], event["ts"])
    slices = {(e["pid"], e["tid"], e["ts"]): e["name"] for e in events if e.get("ph") == "X"}
    arrows = {(slices[flow["s"]], slices[flow["f"]]) for flow in flows.values()}
    assert arrows == {("train", "MatMul"), ("launch", "kernel")}


def test_counters_are_drawn_in_their_hosts_first_process():
    forests = [forest(space(), name) for name in ("a", "b")]
    times, values = np.array([0, 10**6, 2 * 10**6]), np.array([1.0, np.nan, 3.5])
    events = parsed(forests, [Counter("memory", "bytes", times, values, host="b")])
    counters = [event for event in events if event.get("ph") == "C"]
    assert [(event["pid"], event["ts"], event["args"]) for event in counters] == [
        (3, 0.0, {"bytes": 1.0}),
        (3, 2.0, {"bytes": 3.5}),
    ]
    names = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
    assert names == {1: "a /host:CPU", 2: "a /device:GPU:0", 3: "b /host:CPU", 4: "b /device:GPU:0"}


def test_an_empty_profile_is_an_empty_trace(tmp_path):
    empty = XSpace()
    empty.plane("/host:CPU")
    path = load(empty.write(tmp_path / "e.xplane.pb")).to_chrome_trace(tmp_path / "e.json.gz")
    assert json.loads(gzip.decompress(path.read_bytes()))["displayTimeUnit"] == "ns"
    assert load(path).events.empty


def test_a_folder_is_no_file(profile, tmp_path):
    with pytest.raises(TfprofError, match="is a folder"):
        profile.to_chrome_trace(tmp_path)


def test_numbers_that_are_not_finite_or_too_large_for_64_bits_are_kept(tmp_path):
    events = [
        {"ph": "X", "pid": 1, "tid": 1, "ts": 10 * k, "dur": 3, "name": "a", "args": {"x": value}}
        for k, value in enumerate([float("nan"), float("inf"), 1e300, 7, 0.5])
    ]
    (tmp_path / "t.json").write_text(json.dumps(events))
    target = load(tmp_path / "t.json").to_chrome_trace(tmp_path / "again.json")
    content = json.loads(target.read_text(), parse_constant=pytest.fail)
    found = [event["args"]["x"] for event in content["traceEvents"] if event.get("ph") == "X"]
    assert found == ["nan", "inf", 1e300, 7, 0.5]
