"""Two programs that ran in turn, timed without a profiler."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb.analysis.compare.compare import (
    NOTED_LOAD,
    TIME,
    Comparison,
    changed,
    median_percent,
    no_changes,
    runs_of,
    summary_of,
)
from tfprof_nb.analysis.compare.headline import Headline, explained_by_load, margin, verdict
from tfprof_nb.analysis.compare.pace import robust_spread

_RUN = "run"
_ONE_ROUND = 1.0  # of which nothing tells how much runs differ: only twice as long is a difference


class Run(NamedTuple):
    """One run: its time in seconds, and the share of the processors that other programs took, NaN if unknown."""

    seconds: float
    other_load: float


def experiment(runs: Mapping[str, Sequence[Run]]) -> Comparison:
    """Compare the runs of two programs, by name, the one that was there before first."""
    before, after = runs.values()
    times = [np.array([1000 * run.seconds for run in side], dtype=np.float64) for side in (before, after)]
    loads = [[run.other_load for run in side] for side in (before, after)]
    found = Headline(_RUN, True, times[0], times[1], (np.ones(len(before)), np.ones(len(after))), in_turn=True)
    spreads = [robust_spread(side) for side in times if len(side) > 1]
    told = margin(found, spreads, [*loads[0], *loads[1]]) if spreads else _ONE_ROUND
    shares = [median_percent(side) for side in loads]
    summary = {
        **summary_of(found),
        "verdict": verdict(found, told, explained_by_load(*loads)),
        "margin_percent": 100 * told,
        "capture_before_ms": math.nan,
        "capture_after_ms": math.nan,
        "capture_speedup": math.nan,
        "step_speedup": math.nan,
        "changes": [],
        "same_work": True,
        "why_not_same": [],
        "batch_before": None,
        "batch_after": None,
        "other_load_before_percent": shares[0],
        "other_load_after_percent": shares[1],
    }
    nothing = no_changes("side", "op_type", "op_name"), no_changes("kernel", "op_name")
    return Comparison(
        changed(pd.DataFrame({"metric": [TIME]}), [times[0]], [times[1]], f"ms per {_RUN}", in_turn=True),
        summary,
        _notes(shares),
        steps=no_changes("metric"),
        ops=nothing[0],
        kernels=nothing[1],
        memory=no_changes("allocator", "metric"),
        typical_step=pd.DataFrame(columns=["before", "after"]),
        runs=runs_of([name for name, side in runs.items() for _ in side], times, loads),
    )


def _notes(shares: Sequence[float | None]) -> list[str]:
    loads = [share or 0.0 for share in shares]
    if max(loads) < 100 * NOTED_LOAD:
        return []
    took = f"{loads[0]:.0f}% of the processors before and {loads[1]:.0f}% after"
    return [f"Other programs took {took}: more rounds, or a quiet machine, tell smaller differences."]
