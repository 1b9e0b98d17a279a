"""Devices that are not used, and kernels that are too short to launch one by one."""

import gzip
import json

import pytest

from builders import XSpace
from tfprof_nb.api.load import load
from tfprof_nb.formats.files import sidecar_of


def training(kernel_us=None, kernels=10):
    """Three steps of 1 ms: half launches kernels, if there are any, and the rest computes."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    stream = space.plane("/device:GPU:0").line("Stream #1") if kernel_us else None
    for step in range(3):
        at = 1000 * step
        python.event("train", start_us=at, duration_us=1000, step_num=step, _r=1)
        python.event("mul:MatMul", start_us=at, duration_us=500)
        for k in range(kernels if stream else 0):
            number, begin = kernels * step + k, at + 500 + 50 * k
            python.event("cuLaunchKernel", start_us=begin, duration_us=40, correlation_id=number)
            stream.event("gemm", start_us=begin + 40, duration_us=kernel_us, correlation_id=number)
    return space


def findings(tmp_path, space, **versions):
    path = space.write(tmp_path / "host.xplane.pb")
    if versions:
        sidecar = {"version": 1, "versions": {"tensorflow": "2.21.0", **versions}}
        sidecar_of(path).write_bytes(gzip.compress(json.dumps(sidecar).encode()))
    return load(path).advice.table["finding"].tolist()


def test_short_kernels_are_told_to_be_fused(tmp_path):
    assert "Launching kernels takes time" in findings(tmp_path, training(kernel_us=5))


def test_launches_of_long_kernels_have_no_finding(tmp_path):
    assert "Launching kernels takes time" not in findings(tmp_path, training(kernel_us=400, kernels=2))


@pytest.mark.parametrize(
    ("versions", "finding"),
    [
        ({"visible_gpus": 1, "has_nvidia_gpu": True}, "The program ran on the CPU, although a GPU was visible"),
        ({"visible_gpus": 0, "has_nvidia_gpu": True}, "TensorFlow does not see this machine's GPU"),
    ],
)
def test_a_gpu_that_is_not_used_is_the_first_finding(tmp_path, versions, finding):
    assert findings(tmp_path, training(), **versions)[0] == finding


@pytest.mark.parametrize("versions", [{}, {"visible_gpus": 0, "has_nvidia_gpu": False}])
def test_without_a_gpu_nothing_is_said(tmp_path, versions):
    assert not [finding for finding in findings(tmp_path, training(), **versions) if "GPU" in finding]


def test_a_gpu_that_works_is_used(tmp_path):
    found = findings(tmp_path, training(kernel_us=5), visible_gpus=1, has_nvidia_gpu=True)
    assert not [finding for finding in found if "GPU" in finding]


def test_one_of_several_devices_that_does_nothing_is_a_finding(tmp_path):
    space = training(kernel_us=400, kernels=2)
    space.plane("/device:GPU:1").line("Stream #1")
    assert "1 of 2 devices did nothing" in findings(tmp_path, space)


def test_a_strategy_that_shares_the_work_is_not_told_to_share_it(tmp_path):
    space = training(kernel_us=400, kernels=2)
    space.plane("/device:GPU:1").line("Stream #1")
    stream = space.plane("/device:GPU:2").line("Stream #1")
    stream.event("gemm", start_us=600, duration_us=5, tf_op="replica_2/dense/MatMul:MatMul")
    table = load(space.write(tmp_path / "host.xplane.pb")).advice.table
    (row,) = table[table["finding"] == "1 of 3 devices did nothing"].to_dict("records")
    assert "MirroredStrategy" not in row["fix"]
    assert "Capture more steps" in row["fix"]


def test_a_healthy_program_is_told_how_many_processors_it_keeps_busy(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=1000, step_num=step, _r=1)
        for part in range(4):
            python.event(f"op{part}:Type{part}", start_us=1000 * step + 250 * part, duration_us=250)
    path = space.write(tmp_path / "host.xplane.pb")
    load_of_machine = {"seconds": 2.0, "processors": 4, "busy_s": 7.0, "own_s": 6.0}
    sidecar = {"version": 1, "machine_load": load_of_machine}
    sidecar_of(path).write_bytes(gzip.compress(json.dumps(sidecar).encode()))
    (note,) = load(path).advice.notes
    assert note == "Nothing in this profile calls for a change. The program kept 3.0 of 4 processors busy."


@pytest.mark.parametrize(("computing_us", "told"), [(900, True), (300, False)])
def test_mixed_precision_is_for_programs_whose_device_computes(tmp_path, computing_us, told):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    stream = space.plane("/device:GPU:0", compute_cap_major=8, compute_cap_minor=0).line("Stream #1")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=1000, step_num=step, _r=1)
        python.event("cuLaunchKernel", start_us=1000 * step, duration_us=5, correlation_id=step)
        stream.event("sgemm", start_us=1000 * step + 9, duration_us=computing_us, correlation_id=step, tf_op="m:MatMul")
    assert ("The device computes in 32 bit" in findings(tmp_path, space)) == told


def test_copies_that_take_much_of_the_steps_are_told(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    gpu = space.plane("/device:GPU:0")
    copies, compute = gpu.line("Stream #1(MemcpyD2D)"), gpu.line("Stream #2(Compute)")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=1000, step_num=step, _r=1)
        python.event("launch", start_us=1000 * step, duration_us=5, correlation_id=2 * step)
        python.event("launch", start_us=1000 * step + 5, duration_us=5, correlation_id=2 * step + 1)
        copies.event("MemcpyD2D", start_us=1000 * step + 50, duration_us=900, correlation_id=2 * step)
        compute.event("gemm", start_us=1000 * step + 960, duration_us=30, correlation_id=2 * step + 1, tf_op="m:MatMul")
    assert "Devices copy arrays for much of each step" in findings(tmp_path, space)


def test_a_device_that_waits_for_ops_of_the_host_is_not_called_healthy(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    compute = space.plane("/device:GPU:0").line("Stream #1(Compute)")
    for step in range(3):
        at = 1000 * step
        python.event("train", start_us=at, duration_us=1000, step_num=step, _r=1)
        python.event("choose:LogicalAnd", start_us=at + 20, duration_us=400)
        python.event("sort:Where", start_us=at + 430, duration_us=300)
        python.event("launch", start_us=at + 750, duration_us=5, correlation_id=step)
        compute.event("gemm", start_us=at + 760, duration_us=235, correlation_id=step, tf_op="m:MatMul")
    profile = load(space.write(tmp_path / "host.xplane.pb"))
    assert profile.advice.table.empty
    (note,) = profile.advice.notes
    assert "Host compute takes 70.0% of each step, the device computes for 23.5%." in note
    assert note.endswith("Of the host's ops, choose has the most self time.")


@pytest.mark.parametrize(("host_us", "runs", "told"), [(400, 1, True), (400, 2, False), (50, 1, False)])
def test_an_op_that_is_started_slowly_by_the_host_is_named_if_it_ran_once(tmp_path, host_us, runs, told):
    """Steps of 1 ms; the op's kernel takes 3 us, and begins when the host's work for it ends."""
    space = training(kernel_us=5, kernels=1)
    python, stream = space.planes[0].lines[0], space.planes[1].lines[0]
    for step in range(runs):
        python.event("all/LogicalAnd:LogicalAnd", start_us=1000 * step + 500, duration_us=host_us)
        python.event("cuLaunchKernel", start_us=1000 * step + 480 + host_us, duration_us=5, correlation_id=100 + step)
        and_ = {"correlation_id": 100 + step, "tf_op": "all/LogicalAnd:LogicalAnd"}
        stream.event("and_kernel", start_us=1000 * step + 960, duration_us=3, **and_)
    table = load(space.write(tmp_path / "host.xplane.pb")).advice.table
    found = table[table["finding"] == "all/LogicalAnd took long to start"]
    assert len(found) == told
    if told:
        assert found["evidence"].iloc[0] == "It ran once, for 3.00 µs on the GPU, and took 400 µs on the host."
        assert "capture later steps" in found["fix"].iloc[0]


def foreign(marks, busy_us):
    """Three steps of 1 ms of another framework: kernels run for some of each, the host computes in the rest."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    stream = space.plane("/device:GPU:0").line("Stream #1")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=1000, step_num=step, _r=1)
        python.event(marks, start_us=1000 * step, duration_us=990)
        python.event("cuLaunchKernel", start_us=1000 * step, duration_us=5, correlation_id=step)
        stream.event("gemm", start_us=1000 * step, duration_us=busy_us, correlation_id=step)
    return space


@pytest.mark.parametrize(("marks", "cure"), [("aten::mm", "torch.compile"), ("PjitFunction(step)", "jax.jit")])
def test_an_idle_device_of_another_framework_is_a_finding_in_its_words(tmp_path, marks, cure):
    table = load(foreign(marks, busy_us=300).write(tmp_path / "host.xplane.pb")).advice.table
    (row,) = table[table["finding"] == "The device is idle for much of each step"].to_dict("records")
    assert row["evidence"] == "In 700 µs of the average step's 1.00 ms no kernel and no copy runs."
    assert row["severity"] == "high"
    assert cure in row["fix"]


def test_a_busy_device_of_another_framework_is_none(tmp_path):
    assert "The device is idle for much of each step" not in findings(tmp_path, foreign("aten::mm", busy_us=950))


def copying(copy_us):
    space = XSpace()
    tpu = space.plane("/device:TPU:0", device_type_string="TPU v4")
    steps, ops = tpu.line("Steps", line_id=1), tpu.line("XLA Ops", line_id=2)
    copies = tpu.line("Async XLA Ops", line_id=3)
    kinds = {"fusion.1": "loop fusion", "copy-done.1": "copy-done", "copy-start.1": "copy-start"}
    for name, kind in kinds.items():
        tpu.describe(f"%{name} = f32[8] x()", display_name=name, hlo_category=kind, program_id=1)
    for step in range(3):
        at = 1000 * step
        steps.event(str(step), start_us=at, duration_us=1000, group_id=step)
        copies.event("%copy-start.1 = f32[8] x()", start_us=at, duration_us=900)
        ops.event("%fusion.1 = f32[8] x()", start_us=at, duration_us=1000 - copy_us, group_id=step)
        ops.event("%copy-done.1 = f32[8] x()", start_us=at + 1000 - copy_us, duration_us=copy_us, group_id=step)
    return space


def test_a_tpu_that_waits_for_copies_is_told_which(tmp_path):
    profile = load(copying(400).write(tmp_path / "host.xplane.pb"))
    (row,) = profile.advice.table.query("finding == 'The TPU waits for copies'").to_dict("records")
    evidence = "400 µs of the average step's 1.00 ms is spent waiting for copies, most for copy-done.1."
    assert (row["severity"], row["evidence"]) == ("high", evidence)
    assert not profile.advice.table["finding"].str.startswith("Devices copy").any()  # which tells less of that time
    # The copies themselves run beside the instructions: they are no time of the graph.
    assert profile.graph.op().table["total_micros"].iloc[0] == pytest.approx(1000)
    assert not [note for note in profile.graph.notes if "outside of steps" in note]


def test_short_waits_for_copies_are_no_finding(tmp_path):
    assert "The TPU waits for copies" not in findings(tmp_path, copying(50))
