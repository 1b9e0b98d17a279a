"""Steps of real GPU captures equal what TensorFlow 2.4 and 2.5 stored beside them, to the nanosecond."""

import json

import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps

STORED = {
    "step_ms": ["step_time_ms"],
    "device_compute_ms": ["device_compute_ms"],
    "device_to_device_ms": ["device_to_device_ms"],
    "host_compute_ms": ["host_compute_ms"],
    "kernel_launch_ms": ["host_prepare_ms"],
    "input_ms": ["host_wait_input_ms", "host_to_device_ms"],
    "output_ms": ["device_to_host_ms"],
    "compile_ms": ["host_compile_ms"],
    "other_ms": ["unknown_time_ms"],
}


def steps_of(data):
    events = forest(data)
    return steps([events], [group_events(events)])


def test_stored_answers_of_tensorflow_for_gpus(shared_data):
    expected = json.loads((shared_data / "tf2-gpu-pong" / "expected.json").read_text())
    compared = 0
    for path, answer in expected.items():
        table = steps_of((shared_data / path).read_bytes()).table
        assert len(table) == len(answer["steps"])
        for (_, mine), theirs in zip(table.iterrows(), answer["steps"], strict=True):
            compared += 1
            for column, names in STORED.items():
                stored = sum(theirs.get(name, 0) for name in names)
                assert mine[column] == pytest.approx(stored, abs=1e-6), (path, column)
    assert compared == 12


def step_with_copies(**stat):
    """A step of 100 us: a kernel of 30, 10 later a copy of no length, launching for 20, and a kernel of 40."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    stream = space.plane("/device:GPU:0").line("Stream #1(compute)")
    python.event("train", start_us=0, duration_us=100, step_num=0, _r=1)
    for k, (start, length, name) in enumerate([(0, 30, "kernel"), (40, 0, "MemcpyH2D"), (60, 40, "kernel")]):
        launched = max(start - 20, 0)
        python.event("cuLaunchKernel", start_us=launched, duration_us=max(start - launched, 1), correlation_id=k)
        stream.event(name, start_us=start, duration_us=length, correlation_id=k, **stat)
    return steps_of(space.to_bytes())


def test_copies_count_as_they_did_in_the_version_that_captured():
    (now,) = step_with_copies(tf_op="a:B").table.to_dict("records")
    assert now["device_compute_ms"] == pytest.approx(0.070)
    assert now["kernel_launch_ms"] == pytest.approx(0.030)
    old = step_with_copies(**{"level 0": "a:B"})
    (then,) = old.table.to_dict("records")
    assert then["device_compute_ms"] == pytest.approx(0.090)  # from 40 on the copy "runs" until the last kernel's end
    assert then["kernel_launch_ms"] == pytest.approx(0.010)
    assert any("copies" in note for note in old.notes)
