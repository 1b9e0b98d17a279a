"""Rooflines by hand: a device of 100 TFLOP/s and 1000 GB/s bends at 100 operations per byte."""

import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.ops.ops import ops
from tfprof_nb.analysis.ops.roofline import ridge
from tfprof_nb.api.load import load

PEAKS = {"peak_teraflops_per_second": 100.0, "peak_hbm_bw_gigabytes_per_second": 1000.0}


def forest_of(**peaks):
    space = XSpace()
    device = space.plane("/device:TPU:0", **peaks)
    line = device.line("XLA Ops")
    line.event("dot.1", start_us=0, duration_us=10, hlo_op="dot.1", flops=101_000, bytes_accessed=1000)
    line.event("add.2", start_us=10, duration_us=10, hlo_op="add.2", flops=99_000, bytes_accessed=1000)
    line.event("copy.3", start_us=20, duration_us=10, hlo_op="copy.3", bytes_accessed=1000)
    return forest(space)


def test_the_ridge_is_where_both_peaks_meet():
    assert ridge(forest_of(**PEAKS)) == 100.0


@pytest.mark.parametrize(
    ("capability", "cores", "clock_khz", "gigabytes", "teraflops"),
    [
        ((7, 0), 80, 1_530_000, 900, 125.34),  # `xplane_to_op_stats_test.cc`: V100, bends at 139.26
        ((8, 0), 108, 1_410_000, 1555, 312),  # A100
        ((9, 0), 114, 1_620_000, 2000, 756),  # H100
        ((6, 1), 10, 1_670_500, 192, 4.28),  # of before tensor cores: 256 operations a cycle
        ((7, 2), 80, 1_530_000, 900, 125.34),  # of unknown kind: as the next lower one
    ],
)
def test_gpus_have_the_peaks_of_their_kind(capability, cores, clock_khz, gigabytes, teraflops):
    major, minor = capability
    stats = {"clock_rate": clock_khz, "core_count": cores, "memory_bandwidth": gigabytes * 10**9}
    space = XSpace()
    space.plane("/device:GPU:0", **stats, compute_cap_major=major, compute_cap_minor=minor)
    found = ridge(forest(space))
    assert found == pytest.approx(teraflops * 1e3 / gigabytes, rel=1e-3)
    if capability == (7, 0):
        assert found == pytest.approx(139.26, abs=0.01)


def test_gpus_of_other_makers_tell_no_peaks():
    space = XSpace()
    stats = {"clock_rate": 2_100_000, "core_count": 304, "memory_bandwidth": 10**12, "compute_cap_major": 9}
    space.plane("/device:GPU:0", device_vendor="AMD", **stats)
    assert ridge(forest(space)) is None


def test_rates_of_an_op_and_of_the_device():
    """`op_stats_to_overview_page_test.cc`: 1000 operations in 1 us; busy for 70 us and idle for 30."""
    space = XSpace()
    line = space.plane("/device:TPU:0", **PEAKS).line("XLA Ops")
    line.event("dot.1", duration_us=1, hlo_op="dot.1", flops=1000, bytes_accessed=1000)
    line.event("add.2", start_us=31, duration_us=69, hlo_op="add.2")
    found = ops([forest(space)])
    assert found.table.set_index("op_name")["gflops_per_s"]["dot.1"] == pytest.approx(1.0)
    assert (found.summary["device_self_us"], found.summary["device_idle_us"]) == (70, 30)


@pytest.mark.parametrize(
    "peaks", [{}, {"peak_teraflops_per_second": 100.0}, {**PEAKS, "peak_teraflops_per_second": 0.0}]
)
def test_without_both_peaks_nothing_is_said(peaks):
    assert ridge(forest_of(**peaks)) is None
    assert ops([forest_of(**peaks)]).table["bound_by"].isna().all()


def test_ops_are_bound_by_the_side_of_the_ridge_that_they_are_on():
    table = ops([forest_of(**PEAKS)]).table
    bound = dict(zip(table["op_name"], table["bound_by"], strict=True))
    assert [next(bound[name] for name in bound if part in name) for part in ("dot", "add")] == ["compute", "memory"]
    assert next(value for name, value in bound.items() if "copy" in name) == "memory"


def test_what_bounds_the_ops_of_a_tpu_is_what_xprof_says(shared_data):
    p = load(shared_data / "jax-tpu-inference")
    theirs = p.xprof("hlo_stats").set_index("hlo_op_name")["bound_by"]
    ours = p.ops.table.set_index("op_name")["bound_by"]
    both = [name for name in ours.index if name in theirs.index and theirs[name] != "Unknown"]
    assert len(both) >= 4
    assert [ours[name] for name in both] == [{"HBM": "memory", "Compute": "compute"}[theirs[name]] for name in both]
