"""The guide's advice on GPUs: layouts, tensor cores, 16-bit types, several devices; each silent without its sign."""

import pytest

from builders import XSpace
from tfprof_nb.api.load import load

DETAILS = "regs:32 grid:1,1,1 block:64,1,1"


def training(kernels, *, devices=1, major=8, waiting_us=0):
    """Three steps of 1 ms on GPUs; ``kernels`` are (kernel, op, microseconds)."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    streams = [
        space.plane(f"/device:GPU:{k}", compute_cap_major=major, compute_cap_minor=0).line("Stream #1")
        for k in range(devices)
    ]
    number = 0
    for step in range(3):
        at = 1000 * step
        python.event("train", start_us=at, duration_us=1000, step_num=step, _r=1)
        if waiting_us:
            python.event("IteratorGetNext", start_us=at, duration_us=waiting_us)
        for stream in streams:
            begin = at + waiting_us
            for kernel, op, length in kernels:
                number += 1
                python.event("cuLaunchKernel", start_us=begin, duration_us=1, correlation_id=number)
                stats = {"tf_op": op, "kernel_details": DETAILS, "correlation_id": number}
                stream.event(kernel, start_us=begin + 1, duration_us=length, **stats)
                begin += length + 1
    return space


@pytest.fixture
def found(tmp_path):
    """Return a function that returns the findings of a program by their names."""

    def advise(*args, **kwargs):
        table = load(training(*args, **kwargs).write(tmp_path / "host.xplane.pb")).advice.table
        return {row["finding"]: row for row in table.to_dict("records")}

    return advise


PLAIN = ("volta_sgemm_128x64_nn", "m/dense/MatMul:MatMul")
HALF = ("ampere_h16816gemm_128x128_nn", "m/other/MatMul:MatMul")
LAYOUTS = "Convolutions convert their data between layouts"
UNUSED = "Tensor cores stay unused"
SEVERAL = "Several devices wait for their data"


def test_conversions_of_layouts_are_told(found):
    conversion = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>"
    row = found([(conversion, "m/conv/Conv2D:Conv2D", 100), ("gemm", "m/conv/Conv2D:Conv2D", 300)])[LAYOUTS]
    assert (row["severity"], "take 25.0% of the kernels' time" in row["evidence"]) == ("info", True)
    assert LAYOUTS not in found([(conversion, "m/conv/Conv2D:Conv2D", 10), ("gemm", "m/conv/Conv2D:Conv2D", 300)])


def test_16_bit_ops_without_tensor_cores_are_told_of_sizes(found):
    half = ("void gemm_half_kernel<__half, 128>", "m/dense/MatMul:MatMul", 300)
    row = found([half, (*HALF, 300)])[UNUSED]
    assert "50.0% of the kernels' time" in row["evidence"]
    assert "m/dense/MatMul" in row["evidence"]
    assert "multiples of 8" in row["fix"]
    assert UNUSED not in found([(*HALF, 300)])
    assert UNUSED not in found([half, (*HALF, 300)], major=6)


@pytest.mark.parametrize(("major", "named"), [(7, False), (8, True), (9, True)])
def test_bfloat16_is_a_choice_where_the_gpu_has_it(found, major, named):
    fix = found([(*PLAIN, 800)], major=major)["The device computes in 32 bit"]["fix"]
    assert "mixed_float16" in fix
    assert ("mixed_bfloat16" in fix) == named


def test_several_devices_that_wait_for_data_are_told_how_to_be_fed(found):
    row = found([(*HALF, 400)], devices=2, waiting_us=300)[SEVERAL]
    assert row["evidence"].startswith("2 devices computed, and 300 µs of the average step's 1.00 ms is spent")
    assert SEVERAL not in found([(*HALF, 400)], devices=1, waiting_us=300)
    assert SEVERAL not in found([(*HALF, 400)], devices=2)


def test_a_distributed_dataset_is_not_told_to_be_one(shared_data):
    advice = load(shared_data / "tf2-gpu-multi-worker" / "plugins" / "profile" / "demo").advice.table
    fixes = advice.set_index("finding")["fix"]
    assert fixes[SEVERAL].startswith("With several workers, let each read its own files")
    assert fixes["Steps wait for their data"].startswith("Capture more steps: no call of the pipeline on the host")
