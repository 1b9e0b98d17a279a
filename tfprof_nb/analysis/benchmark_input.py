"""What an input pipeline costs by itself: what each stage adds, and what changes of it were measured to gain.

In: times of runs that took turns. Differences are taken between runs of the same round, so that a machine that becomes
slower or faster meanwhile changes them little; a figure is the median of the rounds, its range their extremes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb.analysis.result import Result

COLUMNS = [
    "kind",
    "name",
    "batch_ms",
    "batch_ms_low",
    "batch_ms_high",
    "batches_per_second",
    "added_ms",
    "first_ms",
    "pass_ms",
    "elements",
    "first_pass_only",
    "rounds",
    "batches",
]
# A pass begins with a wait that matters from this part of the pass on.
_MUCH_OF_A_PASS = 0.5
_MORE_THAN_ALL = 1.1
# A change is recommended that leaves at most this part of the time, in nearly all rounds.
WAITS = 0.1  # of a step: from there on it is told that steps wait
_WORTH_IT, _NEARLY_ALL = 0.9, 0.75
_STAGES = ["stage", "whole"]


@dataclass(eq=False)
class InputBenchmark(Result):
    """A measured pipeline.

    ``table`` has one row per stage (``kind`` stage; the last, whole, is the pipeline as it is), what-if, the bound, and
    wait between steps: ``kind name batch_ms batch_ms_low batch_ms_high batches_per_second added_ms first_ms pass_ms
    elements first_pass_only rounds batches``. ``batch_ms`` is the time of a batch after the first of a pass, the median
    of ``rounds``, from ``batch_ms_low`` to ``batch_ms_high``; of a stage, the pipeline's up to there. ``first_ms`` is
    the wait for the first batch of a pass, ``pass_ms`` the whole pass if the number of its batches is known.
    ``elements`` tells of a what-if whether its first elements are those of the pipeline: ``equal``, or ``random`` where
    passes differ.
    """

    @property
    def code(self) -> str:
        """The best variant as code; empty if no variant is better, or if it can't be written."""
        return str(self.summary["code"])


def input_benchmark(
    runs: pd.DataFrame, variants: pd.DataFrame, batches_per_pass: float, step_ms: float, seconds: float
) -> InputBenchmark:
    """Sum up runs.

    Parameters
    ----------
    runs
        ``variant round batch_ms first_ms batches``.
    variants
        ``kind name compared first_pass fills``, by number; stages in the order of the pipeline, the last of kind
        "whole". ``fills`` is how many times as long a stage's whole buffer takes to fill as the measured one.
    batches_per_pass
        NaN if unknown.
    step_ms
        The time that a model's step takes without its input; NaN if unknown.
    """
    table = _table(runs, variants)
    table["pass_ms"] = table["first_ms"] + (batches_per_pass - 1) * table["batch_ms"]
    whole = table[table["kind"] == "whole"].iloc[0]
    stage, of_first = _bottleneck(table, whole, batches_per_pass)
    added = "added_first_ms" if of_first else "added_ms"
    waiting = table.loc[table["kind"] == "waiting", "batch_ms"]
    hidden_ms = math.nan if _only(waiting) > WAITS * step_ms else step_ms
    best = _best(
        runs, table, _cost(runs, batches_per_pass, hidden_ms, of_first), "first_ms" if of_first else "batch_ms"
    )
    bound = table.loc[table["kind"] == "bound", "batch_ms"]
    summary: dict[str, Any] = {
        "batch_ms": float(whole["batch_ms"]),
        "batches_per_second": float(whole["batches_per_second"]),
        "first_ms": float(whole["first_ms"]),
        "batches_per_pass": batches_per_pass,
        "bottleneck": "".join(stage["name"]),
        "bottleneck_added_ms": _only(stage[added]),
        "bottleneck_of": "first batch" if of_first else "batch",
        "best": "".join(best["name"]),
        "best_batch_ms": _only(best["batch_ms"]),
        "best_first_ms": _only(best["first_ms"]),
        "bound_ms": _only(bound),
        "step_ms": step_ms,
        "waiting_ms": _only(waiting),
        "rounds": int(runs["round"].nunique()),
        "seconds": seconds,
        "code": "",
    }
    notes = []
    if not of_first and summary["bottleneck_added_ms"] > _MORE_THAN_ALL * summary["batch_ms"]:
        notes.append(
            f"Up to `{summary['bottleneck']}` the pipeline takes longer than all of it: TensorFlow runs some stages as "
            "one, such as a map and a batch, and then in parallel; or the machine was busy."
        )
    return InputBenchmark(table[COLUMNS], summary, notes)


def _only(values: pd.Series[float]) -> float:
    return float(values.iloc[0]) if len(values) else math.nan


def _table(runs: pd.DataFrame, variants: pd.DataFrame) -> pd.DataFrame:
    by = runs.groupby("variant")
    table = pd.DataFrame(
        {
            "kind": variants["kind"],
            "name": variants["name"],
            "batch_ms": by["batch_ms"].median(),
            "batch_ms_low": by["batch_ms"].min(),
            "batch_ms_high": by["batch_ms"].max(),
            "first_ms": by["first_ms"].median(),
            "elements": variants["compared"],
            "first_pass_only": variants["first_pass"].astype(bool),
            "fills": variants["fills"],
            "rounds": by["round"].nunique(),
            "batches": by["batches"].sum(),
        },
        index=variants.index,
    )
    table["batches_per_second"] = 1e3 / table["batch_ms"]
    table["added_ms"] = _added(runs, table)
    # Starting threads takes now and then long, in any stage: so the least of the stages before counts.
    table["added_first_ms"] = table["first_ms"] - table["first_ms"].cummin().shift(fill_value=0.0)
    return table[table["batch_ms"].notna()].astype({"rounds": np.int64, "batches": np.int64})


def _added(runs: pd.DataFrame, table: pd.DataFrame) -> pd.Series[float]:
    """Return what each stage adds to the one before it. The first that reads a cache begins anew."""
    wide = runs.pivot_table(index="round", columns="variant", values="batch_ms")
    stages = table[table["kind"].isin(_STAGES) & table.index.isin(wide.columns)]
    before = wide[stages.index].shift(axis=1)
    begins = stages["first_pass_only"].shift(fill_value=True) & ~stages["first_pass_only"]
    before.loc[:, begins.to_numpy()] = 0.0
    before = before.fillna({stages.index[0]: 0.0}) if len(stages) else before
    return (wide[stages.index] - before).median()


def _bottleneck(table: pd.DataFrame, whole: pd.Series[Any], batches_per_pass: float) -> tuple[pd.DataFrame, bool]:
    """Return the stage that adds most, and whether to the first batch of each pass: where it fills a buffer."""
    stages = table[table["kind"].isin(_STAGES) & ~table["first_pass_only"]]
    a_pass = whole["first_ms"] + (batches_per_pass - 1) * whole["batch_ms"]
    buffers = stages[stages["name"].str.startswith("shuffle")]
    filling_ms = buffers["added_first_ms"] * buffers["fills"]
    filling = buffers.loc[filling_ms[filling_ms > _MUCH_OF_A_PASS * a_pass].nlargest(1).index]
    return (filling, True) if len(filling) else (stages.nlargest(1, "added_ms"), False)


def _best(runs: pd.DataFrame, table: pd.DataFrame, cost: pd.Series[float], shown: str) -> pd.DataFrame:
    """Return the what-if that takes least, if that is clearly less than the pipeline takes as it is.

    What is ``shown``, the median over all rounds, must be less, too.
    """
    wide = runs.assign(cost=cost).pivot_table(index="round", columns="variant", values="cost")
    (whole,) = table.index[table["kind"] == "whole"]
    what_ifs = table.index[(table["kind"] == "what-if") & table.index.isin(wide.columns)]
    ratios = wide[what_ifs].div(wide[whole], axis=0)
    median = ratios.median().round(3)  # of equal ones the first, which changes least
    faster = (median <= _WORTH_IT) & ((ratios < 1).sum() >= _NEARLY_ALL * ratios.notna().sum())
    faster &= table.loc[what_ifs, shown] < table.loc[whole, shown]
    found: pd.DataFrame = table.loc[median[faster].nsmallest(1).index]
    return found


def _cost(runs: pd.DataFrame, batches_per_pass: float, hidden_ms: float, of_first: bool) -> pd.Series[float]:
    """Return what to compare: the time per batch, of which the step hides a part if the pipeline runs meanwhile."""
    if of_first:
        return runs["first_ms"]
    batch = runs["batch_ms"] if math.isnan(hidden_ms) else runs["batch_ms"].clip(lower=hidden_ms)
    count = batches_per_pass
    return batch if math.isnan(count) or count < 1 else (runs["first_ms"] + (count - 1) * batch) / count
