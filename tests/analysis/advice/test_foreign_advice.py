"""Advice on programs of JAX and PyTorch speaks their words; what is for TensorFlow alone is not said."""

import json

import pytest

from builders import XSpace
from tfprof_nb.analysis.advice.catalogue import rules
from tfprof_nb.analysis.steps.steps import ELSEWHERE
from tfprof_nb.api.load import load

DEVICE, THREAD = {"pid": 0, "tid": 7}, {"pid": 9, "tid": 9}


def event(cat, name, at, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, **at, "ts": ts, "dur": dur, "args": args}


def advice(tmp_path, *, awaited_us=10, kernel_us=100, exchange_us=0, capability=8):
    """Five steps of 1 ms: the batch is awaited, then one kernel computes, and gradients are exchanged."""
    events = []
    for step in range(1, 6):
        at, op = 1000 * step + 5_000_000, {"External id": step}
        loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        begin = at + awaited_us + 30
        events += [
            event("user_annotation", f"ProfilerStep#{step}", THREAD, at, 1000),
            event("user_annotation", loader, THREAD, at, awaited_us),
            event("cpu_op", "aten::mm", THREAD, at + awaited_us, 20, **op),
            event("cuda_runtime", "cudaLaunchKernel", THREAD, at + awaited_us + 5, 5, correlation=step),
            event("kernel", "sgemm", DEVICE, begin, kernel_us, correlation=step, grid=[1, 1, 1], **op),
        ]
        if exchange_us:
            nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
            events.append(event("kernel", nccl, DEVICE, begin + kernel_us, exchange_us, grid=[1, 1, 1]))
    gpu = {"id": 0, "name": "a GPU", "computeMajor": capability, "computeMinor": 0}
    path = tmp_path / "worker.pt.trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [gpu], "traceEvents": events}))
    profile = load(path)
    assert "keras" not in str(profile.advice).lower()
    assert "tf." not in str(profile.advice)
    return profile.advice.table.set_index("finding")


@pytest.mark.parametrize(("awaited_us", "severity"), [(500, "high"), (100, "medium")])
def test_waiting_for_the_loader_is_told_to_prepare_batches_ahead(tmp_path, awaited_us, severity):
    row = advice(tmp_path, awaited_us=awaited_us).loc["Steps wait for their data"]
    assert row["severity"] == severity
    assert row["estimated_gain_percent"] == pytest.approx(awaited_us / 10)
    assert "num_workers" in row["fix"]


def test_a_loader_that_keeps_up_has_no_finding(tmp_path):
    assert "Steps wait for their data" not in advice(tmp_path).index


@pytest.mark.parametrize(("capability", "words"), [(8, "torch.bfloat16"), (7, "torch.GradScaler")])
def test_float32_on_tensor_cores_is_told_of_autocast(tmp_path, capability, words):
    assert words in advice(tmp_path, kernel_us=900, capability=capability).loc["The device computes in 32 bit", "fix"]


def test_a_gpu_without_tensor_cores_is_not_told_of_them(tmp_path):
    assert "The device computes in 32 bit" not in advice(tmp_path, kernel_us=900, capability=6).index


def test_collectives_are_not_called_the_op_that_does_most_of_the_work(tmp_path):
    found = advice(tmp_path, kernel_us=100, exchange_us=800).index
    assert "Devices wait for one another" in found
    assert not [finding for finding in found if finding.startswith("One op does most")]


def tpu(tmp_path, instruction):
    """Three steps of JAX of 1 ms: 700 us are of an instruction, 300 us of a fusion."""
    space = XSpace()
    plane = space.plane("/device:TPU:0")
    steps, ops = plane.line("Steps"), plane.line("XLA Ops")
    for step in range(3):
        at = 1000 * step
        steps.event(str(step), start_us=at, duration_us=1000, group_id=step)
        for name, begin, length in ((instruction, at, 700), ("fusion", at + 700, 300)):
            hlo = {"hlo_category": name, "tf_op": f"jit(step)/{name}:", "group_id": step}
            text = f"%{name}.1 = f32[8] {name}()"
            ops.event(text, start_us=begin, duration_us=length, **hlo)
    return load(space.write(tmp_path / "host.xplane.pb")).advice.table["finding"].tolist()


def test_a_tpu_that_waits_for_its_infeed_waits_for_data(tmp_path):
    assert tpu(tmp_path, "infeed") == ["Steps wait for their data"]


def test_a_collective_of_a_tpu_is_not_called_the_op_that_does_most_of_the_work(tmp_path):
    assert tpu(tmp_path, "all-reduce") == ["Devices wait for one another"]


@pytest.mark.parametrize("backend", ["", "jax"])
def test_rules_on_tensorflows_steps_say_nothing_of_keras_on_jax(tmp_path, backend):
    """A callback takes half of each step; what else goes on in it, TensorFlow's profiler sees only of TensorFlow."""
    space, said = XSpace(), {"keras_backend": backend} if backend else {}
    python = space.plane("/host:CPU").line("python")
    for i in range(10):
        python.event("train", start_us=1000 * i, duration_us=1000, step_num=i, _r=1, **said)
        python.event("sort:Sort", start_us=1000 * i, duration_us=400)
        python.event("callback Slow.on_train_batch_end", start_us=1000 * i + 400, duration_us=500)
    space.write(tmp_path / "host.xplane.pb")
    profile = load(tmp_path)
    overview = profile.overview
    assert overview.summary["verdict"] == ("unknown" if backend else "potentially")
    assert overview.summary["keras_backend"] == ("JAX" if backend else "")
    assert (ELSEWHERE.format("JAX") in overview.notes) == bool(backend)
    groups = profile.advice.table["rule"].map(lambda rule: rules()[rule].group)
    assert profile.advice.table["rule"][0] == "slow-callback"
    assert ("graph" in set(groups)) == (not backend)
