"""The roofline: whether a device's computing or its memory bandwidth bounds an op."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb.analysis.events.devices import by_capability, device_planes
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.decode import Plane

# Dense floating-point operations per cycle and multiprocessor of Nvidia's GPUs at their fastest (from 7.0 on tensor
# cores in 16 bit), by compute capability.
_OPERATIONS_PER_CYCLE = {
    (3, 0): 384,
    (5, 0): 256,
    (7, 0): 1024,
    (8, 0): 2048,
    (8, 6): 1024,
    (9, 0): 4096,
    (10, 0): 8192,
}


def ridge(forest: Forest) -> float | None:
    """Return the operations per byte at the ridge of a device's roofline, None if the file has no peaks."""
    for plane in device_planes([forest]):
        teraflops, gigabytes = _stored_peaks(plane)
        if min(teraflops, gigabytes) <= 0:
            teraflops, gigabytes = _computed_peaks(plane)
        if min(teraflops, gigabytes) > 0:
            return teraflops * 1e3 / gigabytes
    return None


def _stored_peaks(plane: Plane) -> tuple[float, float]:
    """Return the peaks that a TPU's file has: TFLOP/s, and GB/s of its memory; 0 for what it lacks."""
    names = ("peak_teraflops_per_second", "peak_hbm_bw_gigabytes_per_second")
    teraflops, gigabytes = map(plane.number, names)
    return teraflops, gigabytes


def _computed_peaks(plane: Plane) -> tuple[float, float]:
    """Return the peaks of an Nvidia GPU: TFLOP/s and GB/s.

    They follow from its clock (kHz), multiprocessors, compute capability and bandwidth (bytes/s).
    """
    if plane.stats.get("device_vendor", "Nvidia") != "Nvidia":
        return 0.0, 0.0
    clock, cores, bandwidth = map(plane.number, ("clock_rate", "core_count", "memory_bandwidth"))
    operations = by_capability(plane, _OPERATIONS_PER_CYCLE, 0)
    return cores * clock * 1e3 * operations / 1e12, bandwidth / 1e9


def bound_by(flops: pd.Series[float], bytes_accessed: pd.Series[float], ridge: float | None) -> pd.Series[str]:
    """Return ``compute`` or ``memory`` for each op; missing if its bytes or the ridge are unknown.

    An op that moves bytes and computes nothing is bound by memory.
    """
    known = (bytes_accessed > 0) & (ridge is not None)
    intensity = flops.fillna(0.0) / bytes_accessed.where(bytes_accessed > 0)
    kind = pd.Series(np.where(intensity >= (ridge or 0), "compute", "memory"), index=flops.index, dtype=object)
    return kind.where(known, None)
