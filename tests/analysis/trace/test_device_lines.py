"""Lines derived for a GPU's streams: the cases of XProf's ``derived_timeline_test.cc``."""

import numpy as np
import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.trace.device_lines import device_lines


def derived(*kernels, groups=None, streams=None):
    """Derive from kernels ``(op, start_ps, duration_ps)``: a list of (stream, label, name, start, duration)."""
    space = XSpace()
    gpu = space.plane("/device:GPU:0")
    lines = {}
    for index, (op, start, duration) in enumerate(kernels):
        number = streams[index] if streams else 0
        line = lines.setdefault(number, gpu.line(f"Stream #{number}") if number not in lines else None)
        line.event("kernel", start_ps=start, duration_ps=duration, tf_op=op, kernel_details="regs:32")
    events = forest(space)
    group = np.array(groups if groups is not None else [0] * len(kernels))
    return [
        (events.host.lines[line.of].name, line.label, name, start, end - start)
        for line in device_lines(events, group)
        for name, start, end in zip(line.names, line.start_ps.tolist(), line.end_ps.tolist(), strict=True)
    ]


def test_kernels_of_one_op_are_one_event_with_the_idle_time_between_them():
    space = XSpace()
    line = space.plane("/device:GPU:0").line("Stream #1")
    line.event("k1", start_ps=0, duration_ps=100, tf_op="mul:Mul", kernel_details="regs:32")
    line.event("k2", start_ps=200, duration_ps=300, tf_op="mul:Mul", kernel_details="regs:32")
    line.event("graph", start_ps=500, duration_ps=100, tf_op="mul:Mul", cuda_graph_exec_id=7)
    line.event("MemcpyH2D", start_ps=700, duration_ps=100, tf_op="mul:Mul", memcpy_details="size:8")
    [ops] = device_lines(forest(space), np.zeros(4, np.int64))
    assert (ops.names.tolist(), ops.start_ps.tolist(), ops.end_ps.tolist()) == (["mul:Mul"], [0], [600])
    assert ops.host_event.tolist() == [0]


def test_a_step_ends_an_event():
    found = derived(("mul:Mul", 0, 100), ("mul:Mul", 200, 300), groups=[0, 1])
    assert found == [("Stream #0", "Ops", "mul:Mul", 0, 100), ("Stream #0", "Ops", "mul:Mul", 200, 300)]


def test_a_kernel_without_a_step_belongs_to_the_step_before():
    found = derived(("mul:Mul", 0, 100), ("mul:Mul", 200, 300), ("mul:Mul", 600, 10), groups=[0, -1, 1])
    assert [(start, length) for *_, start, length in found] == [(0, 500), (600, 10)]


def test_every_name_scope_is_a_level():
    found = derived(("scope1/scope2/mul:Mul", 0, 100), ("scope1/scope2/mul:Mul", 200, 300))
    assert found == [
        ("Stream #0", "Name scopes", "scope1", 0, 500),
        ("Stream #0", "Name scopes", "scope2", 0, 500),
        ("Stream #0", "Ops", "scope1/scope2/mul:Mul", 0, 500),
    ]


# Upstream shortens c to 9000 in the first case, and in the second c and d to 11000 and f to 1000, so that its viewer
# can order scopes of one span; ours has their depth for that.
@pytest.mark.parametrize(
    ("kernels", "scopes"),
    [
        (
            [("a/b/c/Add:Add", 0, 10000), ("a/d/Mul:Mul", 20000, 30000)],
            {"a": 50000, "b": 10000, "c": 10000, "d": 30000},
        ),
        (
            [("a/b/c/d/e/Add:Add", 0, 10000), ("a/b/c/d/f/Sub:Sub", 10000, 2000), ("a/g/Mul:Mul", 20000, 30000)],
            {"a": 50000, "b": 12000, "c": 12000, "d": 12000, "e": 10000, "f": 2000, "g": 30000},
        ),
    ],
)
def test_scopes_that_share_a_beginning(kernels, scopes):
    found = derived(*kernels)
    assert {name: length for _, label, name, _, length in found if label == "Name scopes"} == scopes


def test_modules_of_one_name_are_told_apart_by_their_run():
    space = XSpace()
    line = space.plane("/device:GPU:0").line("Stream #1")
    for index, run in enumerate([1, 1, 2]):
        line.event(
            "k", start_ps=1000 * index, duration_ps=100, hlo_module="jit", scope_range_id=run, kernel_details="regs:32"
        )
    [modules] = device_lines(forest(space), np.zeros(3, np.int64))
    assert (modules.label, modules.start_ps.tolist(), modules.end_ps.tolist()) == (
        "XLA modules",
        [0, 2000],
        [1100, 2100],
    )


def test_each_stream_has_lines_of_its_own():
    found = derived(("mul:Mul", 0, 100), ("mul:Mul", 50, 100), streams=[0, 1])
    assert [(stream, start) for stream, label, _, start, _ in found if label == "Ops"] == [
        ("Stream #0", 0),
        ("Stream #1", 50),
    ]


def test_devices_that_bring_such_lines_and_hosts_get_none():
    space = XSpace()
    gpu = space.plane("/device:GPU:0")
    gpu.line("Stream #1").event("k", duration_ps=100, tf_op="mul:Mul", kernel_details="regs:32")
    gpu.line("TensorFlow Ops").event("mul", duration_ps=100)
    space.plane("/host:CPU").line("python").event("k", duration_ps=100, tf_op="mul:Mul", kernel_details="regs:32")
    assert device_lines(forest(space), np.zeros(3, np.int64)) == []
