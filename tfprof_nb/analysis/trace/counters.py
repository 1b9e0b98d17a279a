"""Quantities over time, as traces draw them: memory in use, and what was sampled beside the capture."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats, Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.memory.memory import Memory


@dataclass(frozen=True, eq=False)
class Counter:
    """One quantity over time; each value holds until the next one's time.

    Attributes
    ----------
    name
        What is counted, e.g. ``memory in use: GPU_0_bfc``.
    unit
        ``bytes`` or ``%``.
    times_ps
        Since the start of the profile, ascending.
    values
        One per time.
    host
        Whose quantity it is; empty where there is one host only.
    """

    name: str
    unit: str
    times_ps: Int64
    values: Floats
    host: str = ""


def memory_counters(memory: Memory, without: Collection[str] = ()) -> list[Counter]:
    """Return the bytes in use of each allocator but those named, the largest peak first."""
    by_allocator = dict(list(memory.timeline.groupby("allocator")))
    largest_first = memory.allocators.sort_values("peak_bytes", ascending=False, kind="stable").index
    return [
        _counter(f"memory in use: {name}", "bytes", by_allocator[name], "memory_in_use_bytes")
        for name in largest_first
        if name in by_allocator and name not in without
    ]


def metric_counters(samples: pd.DataFrame) -> list[Counter]:
    """Return sampled metrics (``time_ms host metric value unit``), in the order in which they first occur."""
    samples = samples.dropna(subset="value")
    several = len(samples["host"].unique()) > 1
    return [
        _counter(str(metric), str(unit), rows, "value", str(host) if several else "")
        for (host, metric, unit), rows in samples.groupby(["host", "metric", "unit"], sort=False)
    ]


def _counter(name: str, unit: str, rows: pd.DataFrame, column: str, host: str = "") -> Counter:
    times = (rows["time_ms"].to_numpy(np.float64) * PS_PER_MS).round().astype(np.int64)
    return Counter(name, unit, times, rows[column].to_numpy(np.float64), host)
