"""The verdict on both sides of every threshold, and TensorFlow's stored answers for GPU captures."""

import json
import math

import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.ops.ops import ops
from tfprof_nb.analysis.overview import overview
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps


def summed_up(*spaces):
    return of_hosts([forest(space, f"host{i}") for i, space in enumerate(spaces)])


def of_hosts(forests):
    return overview(forests, steps(forests, [group_events(forest) for forest in forests]), ops(forests))


def gpu_program(steps=3, *, wait_us=0, copy_us=0, unaccounted_us=0, half=0):
    """Steps of 10,000 us on two GPU streams: waiting, copying, nothing at all, and computing for the rest."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    gpu = space.plane("/device:GPU:0", compute_cap_major=8, compute_cap_minor=6)
    compute, copies = gpu.line("Stream #1(Compute)"), gpu.line("Stream #2(MemcpyH2D)")
    launch = 0
    for i in range(steps):
        at = 20_000 * i
        python.event("train", start_us=at, duration_us=10_000, step_num=i, _r=1)
        if wait_us:
            python.event("IteratorGetNext", start_us=at, duration_us=wait_us)
        starts = [at + wait_us + copy_us, at + wait_us]
        for stream, start, length, name in (
            (compute, starts[0], 10_000 - wait_us - copy_us - unaccounted_us, "half_gemm" if i < half else "gemm"),
            (copies, starts[1], copy_us, "MemcpyH2D"),
        ):
            if length:
                python.event("launch", start_us=at + 9_999, duration_us=0, correlation_id=launch)
                stream.event(name, start_us=start, duration_us=length, correlation_id=launch, tf_op="m/MatMul:MatMul")
                launch += 1
    return space


@pytest.mark.parametrize(
    ("wait_us", "copy_us", "verdict", "bottleneck"),
    [
        (499, 0, "not", "device"),
        (500, 0, "moderately", "both"),
        (1999, 0, "moderately", "both"),
        (2000, 0, "highly", "host"),
        (0, 499, "not", "device"),
        (250, 250, "moderately", "both"),
        (1000, 1000, "highly", "host"),
    ],
)
def test_verdict_by_the_share_of_input(wait_us, copy_us, verdict, bottleneck):
    found = summed_up(gpu_program(wait_us=wait_us, copy_us=copy_us)).summary
    assert found["input_percent"] == pytest.approx((wait_us + copy_us) / 100)
    assert (found["verdict"], found["bottleneck"]) == (verdict, bottleneck)


@pytest.mark.parametrize(
    ("unaccounted_us", "by_guide", "verdict", "reason"),
    [
        (299, "not", "not", ""),
        (300, "potentially", "not", "little_other_time"),
        (999, "potentially", "not", "little_other_time"),
        (1000, "potentially", "potentially", ""),
    ],
)
def test_unaccounted_time_may_be_input(unaccounted_us, by_guide, verdict, reason):
    found = summed_up(gpu_program(unaccounted_us=unaccounted_us)).summary
    assert (found["verdict_by_guide"], found["verdict"], found["verdict_reason"]) == (by_guide, verdict, reason)


def every_kind_of_work(*, wait_us=0, copy_us=0, unaccounted_us=0):
    """Steps of 10,000 us on two GPUs with four streams each, which do everything that GPUs do.

    Both do the same at the same time, but that the second also copies while it computes. Fixed are 400 us of
    collectives, 200 between devices and 100 back to the host; whatever is left of a step is computed.
    """
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    gpus = [space.plane(f"/device:GPU:{i}", compute_cap_major=7, compute_cap_minor=5) for i in range(2)]
    lines = {
        (gpu, stream): gpus[gpu].line(f"Stream #{13 + i}({what})")
        for gpu in range(2)
        for i, (stream, what) in enumerate(
            [("gemm", "Compute"), ("nccl", "Compute"), ("MemcpyD2D", "MemcpyD2D"), ("MemcpyH2D", "MemcpyH2D,MemcpyD2H")]
        )
    }
    launch = 0
    for i in range(3):
        at = 20_000 * i
        python.event("train", start_us=at, duration_us=10_000, step_num=i, _r=1)
        python.event("IteratorGetNext", start_us=at, duration_us=wait_us)
        compute_us = 10_000 - wait_us - copy_us - unaccounted_us - 700
        start = at + wait_us
        work = [("MemcpyH2D", copy_us), ("gemm", compute_us), ("nccl", 400), ("MemcpyD2D", 200), ("MemcpyD2H", 100)]
        for name, length in work:
            for gpu in range(2):
                python.event("launch", start_us=at + wait_us + copy_us + 1, duration_us=0, correlation_id=launch)
                line = lines[gpu, "MemcpyH2D" if name == "MemcpyD2H" else name]
                line.event(name, start_us=start, duration_us=length, correlation_id=launch)
                launch += 1
            start += length
        python.event("launch", start_us=at + wait_us + copy_us + 2, duration_us=0, correlation_id=launch)
        hidden = at + wait_us + copy_us + 50
        lines[1, "MemcpyH2D"].event("MemcpyH2D", start_us=hidden, duration_us=1000, correlation_id=launch)
        launch += 1
    return space


@pytest.mark.parametrize(
    ("wait_us", "copy_us", "unaccounted_us", "verdict"),
    [
        (249, 250, 0, "not"),
        (250, 250, 0, "moderately"),
        (999, 1000, 0, "moderately"),
        (1000, 1000, 0, "highly"),
        (249, 250, 299, "not"),
        (249, 250, 300, "potentially"),
        (250, 250, 300, "moderately"),
    ],
)
def test_thresholds_amid_every_kind_of_work(wait_us, copy_us, unaccounted_us, verdict):
    times = {"wait_us": wait_us, "copy_us": copy_us, "unaccounted_us": unaccounted_us}
    found = summed_up(every_kind_of_work(**times)).summary
    assert found["verdict_by_guide"] == verdict
    assert (found["input_percent"], found["other_percent"]) == ((wait_us + copy_us) / 100, unaccounted_us / 100)
    fixed = [found[f"{name}_percent"] for name in ("device_collectives", "device_to_device", "output", "kernel_launch")]
    assert fixed == [4, 2, 1, 0]


def test_precision_devices_and_placement():
    found = summed_up(gpu_program(steps=4, half=1), gpu_program(steps=4)).summary
    assert found["device_type"] == "Nvidia GPU (Ampere)"
    assert (found["device_cores"], found["host_count"]) == (2, 2)
    assert (found["fp16_percent"], found["fp32_percent"]) == (12.5, 87.5)
    assert found["device_op_percent"] == 100


def test_the_share_of_op_time_in_eager_ops():
    """Of 100 us on the host, 30 are in an op that Python started."""
    space = XSpace()
    thread = space.plane("/host:CPU").line("t")
    thread.event("EagerExecute", start_us=0, duration_us=40, is_func=0)
    thread.event("add:AddV2", start_us=5, duration_us=30)
    thread.event("dense/MatMul:MatMul", start_us=100, duration_us=70)
    assert summed_up(space).summary["eager_percent"] == 30


def test_how_busy_the_device_was():
    """`op_stats_to_overview_page_test.cc`: busy for 70 and idle for 30 is 70 percent."""
    space = XSpace()
    stream = space.plane("/device:GPU:0").line("Stream #1")
    stream.event("a", start_us=0, duration_us=40)
    stream.event("b", start_us=70, duration_us=30)
    found = summed_up(space).summary
    assert (found["device_busy_percent"], found["device_idle_percent"]) == (70, 30)


def test_a_program_without_devices_is_bound_by_its_host():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for k in range(3):
        python.event("train", start_us=100 * k, duration_us=100, step_num=k, _r=1)
        python.event("MatMul:MatMul", start_us=100 * k, duration_us=100)
    found = summed_up(space).summary
    assert (found["verdict"], found["bottleneck"]) == ("not", "host")


def test_devices_without_work_are_named_if_others_worked():
    space = XSpace()
    for k in range(3):
        stream = space.plane(f"/device:GPU:{k}").line("Stream #1")
        if k == 1:
            stream.event("kernel", duration_us=10)
    assert "No work was recorded on 2 of 3 devices: /device:GPU:0, /device:GPU:2." in summed_up(space).notes


def test_gpus_of_which_nothing_was_recorded_come_first_with_the_causes():
    space = gpu_program()
    for plane in space.planes[1:]:
        plane.lines.clear()
    found = summed_up(space)
    assert (found.summary["unrecorded_gpus"], found.summary["bottleneck"]) == (1, "unknown")
    assert found.notes[0].startswith("CUPTI, NVIDIA's profiling library, recorded nothing on /device:GPU:0")
    assert "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" in found.notes[0]
    assert summed_up(gpu_program()).summary["unrecorded_gpus"] == 0


def test_the_precision_of_kernels_that_do_not_tell_their_type_is_unknown():
    space = XSpace()
    stream = space.plane("/device:GPU:0").line("Stream #1")
    stream.event("Cijk_Ailk_Bljk_MT64x64", duration_us=10, correlation_id=1)
    found = summed_up(space).summary
    assert math.isnan(found["fp16_percent"])
    assert math.isnan(found["fp32_percent"])
    stream.event("sgemm", start_us=10, duration_us=10, correlation_id=2)
    found = summed_up(space).summary
    assert (found["fp16_percent"], found["fp32_percent"]) == (0, 100)


def test_nothing_is_known_of_an_empty_profile():
    space = XSpace()
    space.plane("/host:CPU")
    found = summed_up(space)
    assert (found.summary["verdict"], found.summary["bottleneck"]) == ("unknown", "unknown")
    assert math.isnan(found.summary["input_percent"])
    assert found.summary["device_type"] == "CPU"
    assert found.notes


def test_stored_verdicts_and_top_ops_of_tensorflow(shared_data):
    """Where TensorFlow found a step, its verdict is ours, and so are its top ops on the device."""
    expected = json.loads((shared_data / "tf2-gpu-pong" / "expected.json").read_text())
    for path, answer in expected.items():
        found = of_hosts([forest((shared_data / path).read_bytes())])
        assert found.summary["verdict_by_guide"] == (answer["verdict"].lower() if answer["steps"] else "unknown")
        stored = answer["top_ops"][0]
        mine = found.table.iloc[0]
        assert (mine["op_name"], mine["op_type"]) == (stored[0], stored[1])
        assert mine["self_share"] == pytest.approx(stored[2], abs=0.01)
