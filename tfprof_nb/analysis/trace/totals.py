"""What ran in a stretch of time, by name."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.trace.layout import Layout
from tfprof_nb.analysis.trace.slices import Slices

COLUMNS = ["name", "count", "total_ms", "self_ms", "avg_ms"]


def totals(layout: Layout, ran: Slices, start_ps: int, end_ps: int, tracks: Sequence[int] | None) -> pd.DataFrame:
    """Sum up by name what lies between two times of the events; see `Trace.totals`."""
    track = layout.lane_track[ran.lane]
    chosen = np.ones(len(ran), dtype=bool) if tracks is None else np.isin(track, list(tracks))
    length = np.minimum(ran.end_ps, end_ps) - np.maximum(ran.start_ps, start_ps)
    inner = _inside(layout, ran, length)
    times = pd.DataFrame({"name": ran.name, "total": length, "self": length - inner})[chosen]
    sums = times.groupby("name").agg(count=("total", "size"), total=("total", "sum"), own=("self", "sum")).reset_index()
    table = pd.DataFrame(
        {
            "name": layout.names[sums["name"].to_numpy(np.int64)],
            "count": sums["count"],
            "total_ms": sums["total"] / PS_PER_MS,
            "self_ms": sums["own"] / PS_PER_MS,
            "avg_ms": sums["total"] / sums["count"] / PS_PER_MS,
        },
        columns=COLUMNS,
    )
    return table.sort_values(["self_ms", "name"], ascending=[False, True], ignore_index=True)


def _inside(layout: Layout, ran: Slices, length: Int64) -> Int64:
    """Return for each slice the time of those directly inside it, one lane further down; ``length`` is in ps."""
    inner = np.zeros(len(ran), dtype=np.int64)
    for deeper in np.flatnonzero((layout.lane_depth > 0) & (np.diff(ran.bounds) > 0)).tolist():
        first, last = ran.bounds[deeper - 1], ran.bounds[deeper]
        mine = np.arange(last, ran.bounds[deeper + 1])
        outer = first + np.searchsorted(ran.start_ps[first:last], ran.start_ps[mine], side="right") - 1
        inside = (outer >= first) & (ran.end_ps[np.maximum(outer, 0)] >= ran.end_ps[mine])
        np.add.at(inner, outer[inside], length[mine[inside]])
    return inner
