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
