"""Captures of TensorFlow 2.3 to 2.10, which stored groups and device steps with the events: its quirks are followed.

What is expected is what the converters of TensorFlow 2.4, 2.8 and 2.10 say; these need the stored device steps.
"""

import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.steps.breakdown import CATEGORIES
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps

STEPS_LINE = {"name": "Steps", "line_id": -559038737}


def spent(space):
    """Per step the categories that took time, and the step's own time, in microseconds."""
    events = forest(space)
    rows = steps([events], [group_events(events)]).table.to_dict("records")
    return [
        {name: round(row[name] * 1e3, 6) for name in ["step_ms", *CATEGORIES, "other_ms"] if row[name]} for row in rows
    ]


def one_step(on_host=(), on_device=(), *, marked_us=100, device_step_us=None, **stats):
    """A marked step from 0 on: events are (name, from, to); on the device each on a stream of its own."""
    space = XSpace()
    python, gpu = space.plane("/host:CPU").line("python"), space.plane("/device:GPU:0")
    stats |= {"group_id": 0}
    python.event("train", duration_us=marked_us, step_num=0, _r=1, step_name="train 0", group_id=0)
    for name, start, end in on_host:
        launched = {"correlation_id": 1} if name.startswith("cu") else {}
        python.event(name, start_us=start, duration_us=end - start, group_id=0, **launched)
    for stream, (name, start, end) in enumerate(on_device):
        line = gpu.line(f"Stream #{stream}")
        line.event(name, start_us=start, duration_us=end - start, correlation_id=10 + stream, **stats)
    if device_step_us:
        start, end = device_step_us
        gpu.line(**STEPS_LINE).event("0", start_us=start, duration_us=end - start, group_id=0)
    return space


@pytest.mark.parametrize("op", ["tf_op", "level 0"])
def test_copies_are_compute_however_the_op_is_named(op):
    """TensorFlow 2.6 or so turned `level 0` into `tf_op`, and went on to take copies for compute."""
    work = [("gemm", 10, 40), ("MemcpyH2D", 40, 60), ("MemcpyD2D", 70, 75)]
    found = spent(one_step(on_device=work, device_step_us=(10, 75), **{op: "m/MatMul:MatMul"}))
    assert found == [{"step_ms": 100, "device_compute_ms": 30 + 20 + 5, "other_ms": 45}]


def test_a_step_on_the_device_is_as_long_as_the_file_says():
    """The kernel that began last ends at 130, another at 180: TensorFlow stored a step of 10 to 130."""
    work = [("gemm", 10, 180), ("relu", 120, 130)]
    assert spent(one_step(on_device=work, device_step_us=(10, 130))) == [{"step_ms": 120, "device_compute_ms": 120}]


def test_without_stored_device_steps_they_last_until_all_kernels_ended():
    work = [("gemm", 10, 180), ("relu", 120, 130)]
    assert spent(one_step(on_device=work)) == [{"step_ms": 170, "device_compute_ms": 170}]


def test_the_mark_counts_where_it_takes_in_the_stored_device_step():
    """A kernel runs on after the mark, but the stored step ended before it."""
    work = [("gemm", 10, 180), ("relu", 80, 90)]
    found = spent(one_step(on_device=work, device_step_us=(10, 90)))
    assert found == [{"step_ms": 100, "device_compute_ms": 90, "other_ms": 10}]


@pytest.mark.parametrize(
    ("on_host", "compute"),
    [
        ([("MemoryAllocation", 60, 60), ("cuLaunch", 70, 75)], 10),  # until the launch starts, not when it ends
        ([("MemoryAllocation", 60, 60), ("MemoryAllocation", 65, 65), ("cuLaunch", 70, 75)], 10),
        ([("MemoryAllocation", 60, 60), ("AddV2:AddV2", 64, 69), ("cuLaunch", 70, 75)], 9),  # not after another op
        ([("MemoryAllocation", 72, 72), ("cuLaunch", 70, 75)], 0),  # under a launch
        ([("MemoryAllocation", 20, 20), ("cuLaunch", 70, 75)], 0),  # under the kernel
        ([("MemoryAllocation", 75, 75), ("cuLaunch", 70, 75)], 0),  # the last that happens
        ([("MemoryAllocation", 60, 60), ("MemoryAllocation", 90, 90)], 30),  # nothing else: until the last moment
    ],
    ids=str,
)
def test_what_has_no_length_lasts_until_something_as_important_starts(on_host, compute):
    """In a step with a kernel from 10 to 40."""
    (found,) = spent(one_step(on_host, [("gemm", 10, 40)], device_step_us=(10, 40)))
    assert found["device_compute_ms"] == 30
    assert found.get("host_compute_ms", 0) == compute


def test_a_copy_of_no_length_lasts_until_a_kernel_of_either_precision_starts():
    """The copy from 50 to the half kernel at 60, and none of the time after that kernel."""
    work = [("gemm", 10, 40), ("MemcpyD2H", 50, 50), ("half_gemm", 60, 70), ("gemm", 90, 95)]
    found = spent(one_step(on_device=work, device_step_us=(10, 95)))
    assert found == [{"step_ms": 100, "device_compute_ms": 30 + 10 + 10 + 5, "other_ms": 45}]


def test_a_step_whose_only_work_on_the_device_is_an_instant_at_its_end_is_none():
    copy = [("MemcpyH2D", 80, 80)]
    assert spent(one_step([("cuLaunch", 70, 75)], copy, device_step_us=(80, 80))) == []
    assert spent(one_step(on_device=copy, device_step_us=(80, 80), marked_us=50)) == []
    kept = spent(one_step([("AddV2:AddV2", 70, 90)], copy, device_step_us=(80, 80)))
    assert kept == [{"step_ms": 100, "device_compute_ms": 10, "host_compute_ms": 10, "other_ms": 80}]
