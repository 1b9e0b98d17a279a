"""Rooflines by hand: a device of 100 TFLOP/s and 1000 GB/s bends at 100 operations per byte."""

import pytest

from builders import XSpace
from tfprof_nb.analysis.forest import Forest
from tfprof_nb.analysis.ops import ops
from tfprof_nb.analysis.roofline import ridge
from tfprof_nb.decode.xspace import read_xspace

PEAKS = {"peak_teraflops_per_second": 100.0, "peak_hbm_bw_gigabytes_per_second": 1000.0}


def forest_of(**peaks):
    space = XSpace()
    device = space.plane("/device:TPU:0", **peaks)
    line = device.line("XLA Ops")
    line.event("dot.1", start_us=0, duration_us=10, hlo_op="dot.1", flops=101_000, bytes_accessed=1000)
    line.event("add.2", start_us=10, duration_us=10, hlo_op="add.2", flops=99_000, bytes_accessed=1000)
    line.event("copy.3", start_us=20, duration_us=10, hlo_op="copy.3", bytes_accessed=1000)
    return Forest(read_xspace(space.to_bytes(), "host"))


def test_the_ridge_is_where_both_peaks_meet():
    assert ridge(forest_of(**PEAKS)) == 100.0


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
    assert next(value for name, value in bound.items() if "copy" in name) is None
