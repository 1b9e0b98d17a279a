"""Samples on the profile's time, and as counters."""

import numpy as np
import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.memory.memory import ALLOCATOR_COLUMNS, TIMELINE_COLUMNS, memory
from tfprof_nb.analysis.metrics import COLUMNS
from tfprof_nb.analysis.metrics import sampled as sampled_of_sidecars
from tfprof_nb.analysis.trace.counters import memory_counters, metric_counters
from tfprof_nb.decode import read_xspace
from tfprof_nb.decode.sidecar import Sidecar

BEGAN = 1_700_000_000 * 10**9
MS = 10**6


def host(name="host", began=BEGAN, stopped=BEGAN + 100 * MS):
    """A host that recorded from its start for 100 ms, without memory events."""
    space = XSpace()
    space.plane("/host:CPU").line("t").event("op:Op", duration_us=1)
    environment = {"profile_start_time": began, "profile_stop_time": stopped}
    space.plane("Task Environment", **{stat: value for stat, value in environment.items() if value})
    return read_xspace(space.to_bytes(), name)


def section(times_ms, **values):
    return {
        "times_ns": [BEGAN + round(time * MS) for time in times_ms],
        "series": [{"metric": name, "unit": "bytes", "values": numbers} for name, numbers in values.items()],
    }


def sampled(hosts, sections):
    return sampled_of_sidecars(hosts, [Sidecar({"metrics": found}) for found in sections], "metrics")


def memory_section(times_ms, held, highest=None):
    metrics = {"process memory": held} | ({"peak process memory": highest} if highest else {})
    return section(times_ms, **metrics)


def test_only_what_was_sampled_while_the_profiler_recorded_counts():
    frame = sampled([host()], [section([-70, -20, 30, 80, 130], a=[1, 2, 3, 4, 5])])
    assert list(frame.columns) == COLUMNS
    assert frame[["time_ms", "value"]].to_numpy().tolist() == [[0, 2], [30, 3], [80, 4]]
    assert set(frame["host"] + frame["metric"] + frame["unit"]) == {"hostabytes"}


@pytest.mark.parametrize("times", [[-3], [0], [-20, -3]])
def test_a_profile_shorter_than_the_interval_has_one_sample(times):
    frame = sampled([host(stopped=BEGAN + MS)], [section(times, a=list(range(len(times))))])
    assert frame[["time_ms", "value"]].to_numpy().tolist() == [[0, len(times) - 1]]


def test_all_samples_after_the_start_and_no_end_told():
    frame = sampled([host(stopped=0)], [section([10, 20], a=[1, None], b=[3, 4])])
    assert frame["metric"].tolist() == ["a", "a", "b", "b"]
    assert np.isnan(frame["value"][1])


def test_without_samples_or_the_profiles_start_there_are_none():
    assert sampled([host()], [{}]).empty
    assert sampled([host(began=0)], [section([1], a=[1])]).empty
    assert list(sampled([], []).columns) == COLUMNS


def test_process_memory_stands_in_where_tensorflow_recorded_none():
    silent = host()
    process = sampled([silent], [memory_section([0, 50, 90], [100, 300, 300], [400, 410, 420])])
    result = memory([Forest(silent)], process=process)
    assert list(result.timeline.columns) == TIMELINE_COLUMNS
    assert list(result.allocators.columns) == ALLOCATOR_COLUMNS
    assert result.timeline["memory_in_use_bytes"].tolist() == [100, 300, 300]
    assert set(result.timeline["event"]) == {"sample"}
    assert result.timeline["heap_bytes"].isna().all()
    assert result.table.empty
    figures = result.summary["process (sampled)"]
    known = {"peak_bytes": 300, "peak_bytes_lifetime": 420, "peak_time_ms": 90}
    assert figures == dict.fromkeys(ALLOCATOR_COLUMNS) | known
    assert result.notes[0].startswith("TensorFlow recorded no allocation, so 'process (sampled)' stands in")


def test_a_process_without_its_highest_has_none():
    silent = host()
    result = memory([Forest(silent)], process=sampled([silent], [memory_section([0], [100])]))
    assert result.summary["process (sampled)"]["peak_bytes_lifetime"] is None


def with_allocation(name):
    space = XSpace()
    stats = {"bytes_reserved": 0, "bytes_allocated": 10, "allocation_bytes": 10, "addr": 1, "allocator_name": "cpu"}
    space.plane("/host:CPU").line("t").event("MemoryAllocation", start_ps=1, **stats)
    space.plane("Task Environment", profile_start_time=BEGAN)
    return read_xspace(space.to_bytes(), name)


def test_of_several_hosts_only_the_silent_ones_are_filled_in():
    hosts = [with_allocation("loud"), host("silent")]
    process = sampled(hosts, [memory_section([5], [700]), memory_section([5], [800])])
    result = memory([Forest(one) for one in hosts], process=process)
    assert {name: figures["peak_bytes"] for name, figures in result.summary.items()} == {
        "loud/cpu": 10,
        "silent/process (sampled)": 800,
    }
    assert result.summary["loud/cpu"]["heap_bytes"] == 10
    assert [note[:10] for note in result.notes] == ["TensorFlow"]


def test_recorded_allocations_leave_the_process_out():
    loud = with_allocation("loud")
    process = sampled([loud], [memory_section([5], [700])])
    assert set(memory([Forest(loud)], process=process).summary) == {"cpu"}


def test_counters_of_memory_start_with_the_largest():
    space = XSpace()
    line = space.plane("/host:CPU").line("t")
    for start, name, heap in ((1000, "small", 5), (2000, "large", 50), (3000, "large", 70), (4000, "small", 4)):
        stats = {"bytes_reserved": 0, "bytes_allocated": heap, "addr": heap}
        line.event("MemoryAllocation", start_ps=start, allocator_name=name, **stats)
    counters = memory_counters(memory([forest(space)]))
    assert [(counter.name, counter.unit) for counter in counters] == [
        ("memory in use: large", "bytes"),
        ("memory in use: small", "bytes"),
    ]
    assert counters[0].times_ps.tolist() == [2000, 3000]
    assert counters[0].values.tolist() == [50, 70]


def test_counters_of_metrics_leave_out_what_could_not_be_read():
    frame = sampled([host("a"), host("b")], [section([1, 2], x=[None, 7], y=[1, 2]), section([3], x=[8])])
    counters = metric_counters(frame)
    assert [(counter.host, counter.name, counter.values.tolist()) for counter in counters] == [
        ("a", "x", [7]),
        ("a", "y", [1, 2]),
        ("b", "x", [8]),
    ]
    assert counters[0].times_ps.tolist() == [2 * 10**9]
    assert metric_counters(frame[frame["host"] == "a"])[0].host == ""
    assert metric_counters(frame[:0]) == []
