"""Memory over time: XProf's own test vector, and the files that TensorFlow stored beside its captures."""

import json

import numpy as np
import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.memory.memory import ALLOCATOR_COLUMNS, BEFORE_CAPTURE, COLUMNS, TIMELINE_COLUMNS, memory
from tfprof_nb.decode.data_types import title


def event(line, kind, start_ps, *, stack=0, heap, free=0, lifetime=0, size=0, addr=0, allocator="cpu", **stats):
    line.event(
        f"Memory{kind}",
        start_ps=start_ps,
        bytes_reserved=stack,
        bytes_allocated=heap,
        bytes_available=free,
        peak_bytes_in_use=lifetime,
        requested_bytes=stats.pop("requested", size),
        allocation_bytes=size,
        addr=addr,
        allocator_name=allocator,
        **stats,
    )


@pytest.fixture
def gpu_space():
    """`xplane_to_memory_profile_test.cc`."""
    space = XSpace()
    line = space.plane("/host:CPU").line("t")
    gpu = {"stack": 2000, "allocator": "GPU_0_bfc"}
    foo = {"tf_op": "foo/bar", "region_type": "output", "data_type": 1, "shape": "[3, 3, 512, 512]"}
    total = {"tf_op": "mul_grad/Sum", "region_type": "temp", "data_type": 9, "shape": "[1, 2]"}
    event(
        line,
        "Allocation",
        40000,
        heap=3000,
        free=5000,
        lifetime=8500,
        size=256,
        requested=200,
        addr=222333,
        **gpu,
        **foo,
    )
    event(line, "Deallocation", 50000, heap=2744, free=5256, lifetime=8500, size=256, requested=200, addr=222333, **gpu)
    event(line, "Allocation", 70000, heap=5000, free=3000, lifetime=9500, size=300, addr=345678, **gpu, **total)
    return space


def test_the_lifetime_peak_is_the_highest_recorded_and_in_old_captures_the_last_in_the_file(gpu_space):
    """Of two threads the first in the file was told of more, later. TensorFlow up to 2.10 stored 400 for this."""

    def lifetime(**grouped):
        space = XSpace()
        host = space.plane("/host:CPU")
        event(host.line("a"), "Allocation", 90000, heap=100, lifetime=900, size=100)
        event(host.line("b"), "Allocation", 50000, heap=200, lifetime=400, size=200)
        stream = space.plane("/device:GPU:0").line("stream")
        stream.event("kernel", start_ps=60000, duration_ps=10, **grouped)
        return memory([forest(space)]).summary["cpu"]["peak_bytes_lifetime"]

    assert (lifetime(), lifetime(group_id=1)) == (900, 400)


def test_peak_and_what_was_alive(gpu_space):
    result = memory([forest(gpu_space)])
    assert result.summary == {
        "GPU_0_bfc": {
            "allocations": 2,
            "deallocations": 1,
            "capacity_bytes": 10000,
            "peak_bytes": 7000,
            "peak_bytes_lifetime": 9500,
            "peak_time_ms": pytest.approx(70000 / 1e9),
            "stack_bytes": 2000,
            "heap_bytes": 5000,
            "free_bytes": 3000,
            "fragmentation": 0.0,
        }
    }
    assert list(result.table.columns) == COLUMNS
    assert result.table[["op_name", "allocation_bytes", "data_type"]].to_numpy().tolist() == [
        [BEFORE_CAPTURE, 4700, "INVALID"],
        ["stack", 2000, "INVALID"],
        ["mul_grad/Sum", 300, "int64"],
    ]
    assert list(result.allocators.columns) == ALLOCATOR_COLUMNS


def test_timeline_describes_deallocations_by_their_allocation(gpu_space):
    timeline = memory([forest(gpu_space)], [np.array([4, 4, 5])]).timeline
    assert list(timeline.columns) == TIMELINE_COLUMNS
    assert timeline["event"].tolist() == ["allocation", "deallocation", "allocation"]
    assert timeline["op_name"].tolist() == ["foo/bar", "foo/bar", "mul_grad/Sum"]
    assert timeline["data_type"].tolist() == ["float", "float", "int64"]
    assert timeline["shape"].tolist()[1] == "[3, 3, 512, 512]"
    assert timeline["requested_bytes"].tolist() == [200, -200, 300]
    assert timeline["allocation_bytes"].tolist() == [256, -256, 300]
    assert timeline["memory_in_use_bytes"].tolist() == [5000, 4744, 7000]
    assert timeline["step"].tolist() == [4, 4, 5]


def test_what_earlier_steps_allocated_is_alive_too():
    space = XSpace()
    line = space.plane("/host:CPU").line("t")
    event(line, "Allocation", 10, heap=100, size=100, addr=1, tf_op="weights")
    event(line, "Allocation", 20, heap=150, size=50, addr=2, tf_op="step0")
    event(line, "Deallocation", 30, heap=100, size=50, addr=2)
    event(line, "Allocation", 40, heap=180, size=80, addr=2, tf_op="step1")
    event(line, "Deallocation", 50, heap=100, size=80, addr=2)
    table = memory([forest(space)], [np.arange(5)]).table
    assert table[["op_name", "allocation_bytes"]].to_numpy().tolist() == [["weights", 100], ["step1", 80]]


def test_equal_allocations_are_one_row_and_of_equal_peaks_the_last_counts():
    space = XSpace()
    line = space.plane("/host:CPU").line("t")
    event(line, "Allocation", 10, heap=10, size=10, addr=1, tf_op="a")
    event(line, "Allocation", 20, heap=20, size=10, addr=2, tf_op="a")
    event(line, "Deallocation", 30, heap=10, size=10, addr=2)
    event(line, "Allocation", 40, heap=20, size=10, addr=3, tf_op="a")
    result = memory([forest(space)])
    assert result.table["occurrences"].tolist() == [2]
    assert result.summary["cpu"]["peak_time_ms"] == pytest.approx(40 / 1e9)


def test_time_orders_events_of_different_threads():
    space = XSpace()
    plane = space.plane("/host:CPU")
    late, early = plane.line("a", timestamp_ns=5), plane.line("b")
    event(late, "Deallocation", 0, heap=0, size=10, addr=1)
    event(early, "Allocation", 0, heap=10, size=10, addr=1, tf_op="a")
    result = memory([forest(space)])
    assert result.timeline["event"].tolist() == ["allocation", "deallocation"]
    assert result.timeline["time_ms"].tolist() == pytest.approx([0, 5e-6])
    assert result.timeline["op_name"].tolist() == ["a", "a"]


def test_allocators_of_several_hosts_keep_apart():
    space = XSpace()
    event(space.plane("/host:CPU").line("t"), "Allocation", 0, heap=10, size=10, addr=1)
    assert set(memory([forest(space, "one"), forest(space, "two")]).summary) == {"one/cpu", "two/cpu"}


def test_tpu_allocators_are_numbered():
    space = XSpace()
    line = space.plane("/host:CPU").line("t")
    common = {"bytes_reserved": 0, "index_on_host": 3, "addr": 7}
    line.event("MemoryAllocation", start_ps=1, bytes_allocated=128, requested_bytes=32, allocation_bytes=128, **common)
    line.event("MemoryDeallocation", start_ps=2, bytes_allocated=0, **common)
    result = memory([forest(space)])
    assert list(result.summary) == ["device 3"]
    assert result.timeline["allocation_bytes"].tolist() == [128, -128]


def test_nothing_allocated_says_so():
    space = XSpace()
    space.plane("/host:CPU").line("t").event("op:Op", duration_us=1)
    result = memory([forest(space)])
    assert result.table.empty
    assert result.timeline.empty
    assert result.summary == {}
    assert result.notes[0].startswith("No memory events")
    assert memory([]).table.empty


def lifetime_peaks(host, allocator):
    """The highest figure of an allocator, which is ours, and that of its last event in the file, which is XProf's."""
    texts, peaks = host.texts("allocator_name"), host.ints("peak_bytes_in_use")
    mine = peaks.values[np.isin(peaks.rows, texts.rows[texts.categories[texts.values] == allocator])]
    return int(mine.max()), int(mine[-1])


def test_xprof_takes_the_last_event_in_the_file_for_the_last_in_time(tmp_path):
    from xprof.convert import raw_to_tool_data

    space = XSpace()
    plane = space.plane("/host:CPU")
    for name, at, lifetime in (("a", 100, 900), ("b", 10, 500)):
        event(plane.line(name), "Allocation", at, heap=100, free=900, lifetime=lifetime, size=16, addr=at, id=0)
    path = space.write(tmp_path / "host.xplane.pb")
    profile = json.loads(raw_to_tool_data.xspace_to_tool_data([str(path)], "memory_profile", {})[0])
    theirs = profile["memoryProfilePerAllocator"]["cpu"]["profileSummary"]["peakBytesUsageLifetime"]
    ours = memory([forest(space)]).summary["cpu"]["peak_bytes_lifetime"]
    assert (int(theirs), ours) == (500, 900)


def test_peaks_agree_with_xprof(keras_capture):
    from xprof.convert import raw_to_tool_data

    theirs = json.loads(raw_to_tool_data.xspace_to_tool_data([str(keras_capture)], "memory_profile", {})[0])
    events = forest(keras_capture.read_bytes())
    host, ours = events.host, memory([events])
    assert set(ours.summary) == set(theirs["memoryProfilePerAllocator"]) != set()
    for allocator, profile in theirs["memoryProfilePerAllocator"].items():
        figures, stats = ours.summary[allocator], profile["profileSummary"]
        assert figures["peak_bytes"] == int(stats["peakStats"]["peakBytesInUse"])
        assert (figures["peak_bytes_lifetime"], int(stats["peakBytesUsageLifetime"])) == lifetime_peaks(host, allocator)
        assert figures["capacity_bytes"] == int(stats["memoryCapacity"])
        assert figures["allocations"] + figures["deallocations"] == len(profile["sampledTimelineSnapshots"])


def test_peaks_agree_with_what_tensorflow_stored(shared_data):
    expected = json.loads((shared_data / "tf2-gpu-pong" / "expected.json").read_text())
    assert len(expected) == 14
    for path, figures in expected.items():
        result = memory([forest((shared_data / path).read_bytes())])
        assert set(result.summary) == set(figures["memory"])
        for allocator, theirs in figures["memory"].items():
            ours = result.summary[allocator]
            assert ours["peak_bytes"] == int(theirs["peak"])
            assert ours["peak_bytes_lifetime"] == int(theirs["peak_lifetime"])
            assert ours["capacity_bytes"] == int(theirs["capacity"])
            # TensorFlow kept at most 1000 points of the timeline.
            points = int((result.timeline["allocator"] == allocator).sum())
            assert points == theirs["snapshots"] or points > 1000
            live = result.table[result.table["allocator"] == allocator]
            assert (live["allocation_bytes"] * live["occurrences"]).sum() == ours["peak_bytes"]


@pytest.mark.parametrize("folder", ["tf2-gpu-multi-worker", "jax-rocm-conv", "jax-tpu-inference"])
def test_other_devices(shared_data, folder):
    file = next((shared_data / folder).rglob("*.xplane.pb"))
    result = memory([forest(file.read_bytes())])
    assert len(result.allocators) >= 4
    assert (result.allocators["peak_bytes"] <= result.allocators["peak_bytes_lifetime"]).all()


@pytest.mark.tensorflow
def test_every_type_of_tensorflow_has_its_name():
    types_pb2 = pytest.importorskip("tensorflow.core.framework.types_pb2")
    names = {number: name.removeprefix("DT_").lower() for name, number in types_pb2.DataType.items() if number}
    assert {number: title(number) for number in names} == names
    assert (title(0), title(14 + 100), title(98)) == ("INVALID", "bfloat16_ref", "98")
