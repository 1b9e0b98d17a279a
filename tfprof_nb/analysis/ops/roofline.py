"""The roofline: whether an op is bound by how fast a device computes or by how fast it reads and writes memory."""

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
    """Return the operations per byte at which a device's roofline bends, None where the file tells no peaks."""
    for plane in device_planes([forest]):
        teraflops, gigabytes = _stored_peaks(plane)
        if min(teraflops, gigabytes) <= 0:
            teraflops, gigabytes = _computed_peaks(plane)
        if min(teraflops, gigabytes) > 0:
            return teraflops * 1e3 / gigabytes
    return None


def _stored_peaks(plane: Plane) -> tuple[float, float]:
    """Peaks as a TPU's file has them: TFLOP/s, and GB/s to and from memory; 0 for what it lacks."""
    names = ("peak_teraflops_per_second", "peak_hbm_bw_gigabytes_per_second")
    teraflops, gigabytes = (float(plane.stats.get(name, 0)) for name in names)
    return teraflops, gigabytes


def _computed_peaks(plane: Plane) -> tuple[float, float]:
    """Peaks of an Nvidia GPU, from its clock (kHz), multiprocessors, compute capability and bandwidth (bytes/s)."""
    if plane.stats.get("device_vendor", "Nvidia") != "Nvidia":
        return 0.0, 0.0
    clock, cores, bandwidth = (
        float(plane.stats.get(name, 0)) for name in ("clock_rate", "core_count", "memory_bandwidth")
    )
    operations = by_capability(plane, _OPERATIONS_PER_CYCLE, 0)
    return cores * clock * 1e3 * operations / 1e12, bandwidth / 1e9


def bound_by(flops: pd.Series[float], bytes_accessed: pd.Series[float], ridge: float | None) -> pd.Series[str]:
    """Return ``compute`` or ``memory`` for each op; missing where its bytes or the ridge are not known.

    What moves bytes and computes nothing is bound by memory.
    """
    known = (bytes_accessed > 0) & (ridge is not None)
    intensity = flops.fillna(0.0) / bytes_accessed.where(bytes_accessed > 0)
    kind = pd.Series(np.where(intensity >= (ridge or 0), "compute", "memory"), index=flops.index, dtype=object)
    return kind.where(known, None)
