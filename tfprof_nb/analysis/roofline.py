"""The roofline: whether an op is bound by how fast a device computes or by how fast it reads and writes memory."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb.analysis.devices import device_planes
from tfprof_nb.analysis.forest import Forest


def ridge(forest: Forest) -> float | None:
    """Return the operations per byte at which a device's roofline bends, None where the file tells no peaks."""
    for plane in device_planes([forest]):
        teraflops = plane.stats.get("peak_teraflops_per_second")
        gigabytes = plane.stats.get("peak_hbm_bw_gigabytes_per_second")
        if isinstance(teraflops, int | float) and isinstance(gigabytes, int | float) and min(teraflops, gigabytes) > 0:
            return teraflops * 1e3 / gigabytes
    return None


def bound_by(flops: pd.Series[float], bytes_accessed: pd.Series[float], ridge: float | None) -> pd.Series[str]:
    """Return ``compute`` or ``memory`` for each op; missing where one of the three is not known."""
    known = (flops > 0) & (bytes_accessed > 0) & (ridge is not None)
    intensity = flops / bytes_accessed.where(bytes_accessed > 0)
    kind = pd.Series(np.where(intensity >= (ridge or 0), "compute", "memory"), index=flops.index, dtype=object)
    return kind.where(known, None)
