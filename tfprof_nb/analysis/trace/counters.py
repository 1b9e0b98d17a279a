"""Quantities over time for the trace: counters of the file, memory in use, and metrics sampled beside the capture."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats, Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.memory.memory import Memory

_VALUE = "counter_value"  # XLA's name of a counter's value; its counters have other stats too
_PLAIN = ("value", _VALUE)  # names of a value that say nothing beyond the counter's own name
_UNITS = ("bytes", "%")
_BUCKETS = 500  # of a counter in a picture


@dataclass(frozen=True, eq=False)
class Counter:
    """One quantity over time; each value holds until the next.

    Attributes
    ----------
    name
        E.g. ``memory in use: GPU_0_bfc``.
    unit
        ``bytes`` or ``%``.
    times_ps
        Since the start of the profile, ascending.
    values
        One per time.
    host
        The host; empty if there is only one.
    """

    name: str
    unit: str
    times_ps: Int64
    values: Floats
    host: str = ""

    @property
    def is_known(self) -> bool:
        """Whether any value is known."""
        return bool(np.isfinite(self.values).any())

    def drawn(self) -> dict[str, Any]:
        """Return the form in which the browser draws it, of few points: each bucket's minimum, maximum and last."""
        kept = np.flatnonzero(np.isfinite(self.values))
        if len(kept) > 3 * _BUCKETS:
            bucket = np.arange(len(kept)) * _BUCKETS // len(kept)
            buckets = pd.Series(self.values[kept], index=kept).groupby(bucket)
            kept = np.unique(np.r_[kept[0], buckets.idxmin(), buckets.idxmax(), buckets.tail(1).index])
        return {
            "name": f"{self.host} {self.name}".strip(),
            "unit": self.unit,
            "times_ps": self.times_ps[kept].tolist(),
            "values": [round(value, 6) for value in self.values[kept].tolist()],
        }


def memory_counters(memory: Memory, without: Collection[str] = ()) -> list[Counter]:
    """Return the bytes in use of each allocator except those named, the largest peak first."""
    by_allocator = dict(list(memory.timeline.groupby("allocator")))
    largest_first = memory.allocators.sort_values("peak_bytes", ascending=False, kind="stable").index
    return [
        _counter(f"memory in use: {name}", "bytes", by_allocator[name], "memory_in_use_bytes")
        for name in largest_first
        if name in by_allocator and name not in without
    ]


def metric_counters(samples: pd.DataFrame) -> list[Counter]:
    """Return sampled metrics (``time_ms host metric value unit``), in order of first occurrence."""
    samples = samples.dropna(subset="value")
    several = len(samples["host"].unique()) > 1
    return [
        _counter(str(metric), str(unit), rows, "value", str(host) if several else "")
        for (host, metric, unit), rows in samples.groupby(["host", "metric", "unit"], sort=False)
    ]


def recorded_counters(forests: Sequence[Forest], without: Collection[str] = ()) -> list[Counter]:
    """Return the counters that the files hold, except those named.

    A counter with several values becomes one counter per value.
    """
    several = len(forests) > 1
    return [
        counter
        for forest in forests
        for counter in _recorded(forest, forest.host.name if several else "")
        if counter.name not in without
    ]


def _recorded(forest: Forest, host: str) -> list[Counter]:
    events = np.flatnonzero(forest.are_counters)
    if not len(events):
        return []
    counters, stats = [], forest.host.stat_names()
    for stat in [_VALUE] if _VALUE in stats else stats:
        values = forest.host.floats(stat).at(events, missing=np.nan).astype(np.float64)
        frame = pd.DataFrame(
            {
                "plane": forest.planes_of(events),
                "name": forest.host.names[forest.host.metadata[events]],
                "time_ps": forest.host.start_ps[events],
                "value": values,
            }
        ).dropna(subset="value")
        planes_of_name = frame.groupby("name")["plane"].transform("nunique")
        for (_, name), rows in frame.groupby(["plane", "name"], sort=False):
            label = str(name) if stat in (*_PLAIN, *_UNITS) else f"{name}: {stat}"
            if planes_of_name[rows.index[0]] > 1:  # as of each core of a TPU
                plane = forest.host.planes[int(rows["plane"].iloc[0])].name
                label = f"{plane.removeprefix('/device:')} {label}"
            points, unit = rows.sort_values("time_ps", kind="stable"), stat if stat in _UNITS else ""
            counters.append(Counter(label, unit, points["time_ps"].to_numpy(), points["value"].to_numpy(), host))
    return counters


def unit_percents(forests: Sequence[Forest]) -> dict[str, float]:
    """Return the mean utilisation of a TPU's matrix and vector units by the counters of its cores; NaN if unknown.

    Each core counts the same. Counters that hold no percentages say nothing.
    """
    of_tpus = [forest for forest in forests if any("TPU" in plane.name for plane in forest.host.planes)]
    counters = [counter for counter in recorded_counters(of_tpus) if counter.is_known]
    return {f"{unit}_percent": _mean_percent(counters, unit) for unit in ("mxu", "vpu")}


def _mean_percent(counters: Sequence[Counter], unit: str) -> float:
    is_of_unit = re.compile(rf"\b{unit}\b.*utili[sz]ation", re.IGNORECASE)
    of_cores = [counter.values for counter in counters if is_of_unit.search(counter.name)]
    highest = max((float(np.nanmax(values)) for values in of_cores), default=float("nan"))
    # Values up to 1 may be shares, or percentages of units that hardly work: nothing tells which.
    if not 1 < highest <= 100 or any(np.nanmin(values) < 0 for values in of_cores):
        return float("nan")
    return float(np.mean([np.nanmean(values) for values in of_cores]))


def _counter(name: str, unit: str, rows: pd.DataFrame, column: str, host: str = "") -> Counter:
    times = (rows["time_ms"].to_numpy(np.float64) * PS_PER_MS).round().astype(np.int64)
    return Counter(name, unit, times, rows[column].to_numpy(np.float64), host)
