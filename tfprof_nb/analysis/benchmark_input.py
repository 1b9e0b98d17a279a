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
    "elements",
    "first_pass_only",
    "rounds",
    "batches",
]
# A pass begins with a wait that matters from this part of the pass on.
_MUCH_OF_A_PASS = 0.2
# A change is recommended that leaves at most this part of the time, in nearly all rounds.
_WORTH_IT, _NEARLY_ALL = 0.9, 0.75
_FEW_ROUNDS = 3


@dataclass(eq=False)
class InputBenchmark(Result):
    """A measured pipeline.

    ``table`` has one row per stage (``kind`` stage; the last, whole, is the pipeline as it is), what-if, the bound, and
    wait between steps: ``kind name batch_ms batch_ms_low batch_ms_high batches_per_second added_ms first_ms elements
    first_pass_only rounds batches``. ``batch_ms`` is the time of a batch after the first of a pass, the median of
    ``rounds``, from ``batch_ms_low`` to ``batch_ms_high``; of a stage, the pipeline's up to there. ``first_ms`` is the
    wait for the first batch of a pass. ``elements`` says whether a what-if's first elements were compared: ``equal``, or
    ``random`` where passes differ.
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
        ``kind name compared first_pass``, by number; stages in the order of the pipeline, the last of kind "whole".
    batches_per_pass
        NaN if unknown.
    step_ms
        The time that a model's step takes without its input; NaN if unknown.
    seconds
        How long measuring took.
    """
    table = _table(runs, variants)
    whole = table[table["kind"] == "whole"].iloc[0]
    stage, of_first = _bottleneck(table, whole, batches_per_pass)
    best = _best(runs, table, whole, batches_per_pass, step_ms, of_first)
    waiting = table[table["kind"] == "waiting"].set_index("name")["batch_ms"]
    bound = table.loc[table["kind"] == "bound", "batch_ms"]
    summary: dict[str, Any] = {
        "batch_ms": float(whole["batch_ms"]),
        "batches_per_second": float(whole["batches_per_second"]),
        "first_ms": float(whole["first_ms"]),
        "batches_per_pass": batches_per_pass,
        "bottleneck": "" if stage is None else str(stage["name"]),
        "bottleneck_added_ms": math.nan if stage is None else float(stage["added_first_ms" if of_first else "added_ms"]),
        "bottleneck_of": "first batch" if of_first else "batch",
        "best": "" if best is None else str(best["name"]),
        "best_batch_ms": math.nan if best is None else float(best["batch_ms"]),
        "best_first_ms": math.nan if best is None else float(best["first_ms"]),
        "bound_ms": float(bound.iloc[0]) if len(bound) else math.nan,
        "step_ms": step_ms,
        "waiting_ms": float(waiting.iloc[0]) if len(waiting) else math.nan,
        "rounds": int(runs["round"].nunique()),
        "seconds": seconds,
        "code": "",
    }
    notes = []
    if summary["rounds"] < _FEW_ROUNDS:
        notes.append(
            f"The time was enough for {summary['rounds']} of the rounds: give more with seconds= for figures that vary "
            "less."
        )
    return InputBenchmark(table[COLUMNS], summary, notes)


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
            "rounds": by["round"].nunique(),
            "batches": by["batches"].sum(),
        },
        index=variants.index,
    )
    table["batches_per_second"] = 1e3 / table["batch_ms"]
    for column, added in (("batch_ms", "added_ms"), ("first_ms", "added_first_ms")):
        table[added] = _added(runs, table, column)
    return table[table["batch_ms"].notna()].astype({"rounds": np.int64, "batches": np.int64})


def _added(runs: pd.DataFrame, table: pd.DataFrame, column: str) -> pd.Series[float]:
    """Return what each stage adds to the one before it. The first that reads a cache begins anew."""
    wide = runs.pivot_table(index="round", columns="variant", values=column)
    stages = [number for number in table.index[table["kind"].isin(["stage", "whole"])] if number in wide]
    added = pd.Series(np.nan, index=table.index)
    before: int | None = None
    for number in stages:
        begins = before is None or bool(table.at[before, "first_pass_only"] > table.at[number, "first_pass_only"])
        difference = wide[number] if begins else wide[number] - wide[before]
        added[number] = difference.median()
        before = number
    return added


def _bottleneck(
    table: pd.DataFrame, whole: pd.Series[Any], batches_per_pass: float
) -> tuple[pd.Series[Any] | None, bool]:
    """Return the stage that adds most, and whether to the first batch of each pass: where it fills a buffer."""
    stages = table[table["kind"].isin(["stage", "whole"]) & ~table["first_pass_only"]]
    if stages.empty:
        return None, False
    fills = stages.loc[stages["added_first_ms"].idxmax()]
    a_pass = whole["first_ms"] + (batches_per_pass - 1) * whole["batch_ms"]
    if str(fills["name"]).startswith("shuffle") and fills["added_first_ms"] > _MUCH_OF_A_PASS * a_pass:
        return fills, True
    return stages.loc[stages["added_ms"].idxmax()], False


def _best(
    runs: pd.DataFrame,
    table: pd.DataFrame,
    whole: pd.Series[Any],
    batches_per_pass: float,
    step_ms: float,
    of_first: bool,
) -> pd.Series[Any] | None:
    """Return the what-if that takes least, if that is clearly less than the pipeline takes as it is."""
    costs = runs.assign(cost=_cost(runs, batches_per_pass, step_ms, of_first))
    wide = costs.pivot_table(index="round", columns="variant", values="cost")
    ratios = wide.div(wide[whole.name], axis=0)
    candidates = [number for number in table.index[table["kind"] == "what-if"] if number in ratios]
    faster = [
        number
        for number in candidates
        if ratios[number].median() <= _WORTH_IT and (ratios[number].dropna() < 1).mean() >= _NEARLY_ALL
    ]
    return table.loc[min(faster, key=lambda number: round(float(ratios[number].median()), 3))] if faster else None


def _cost(runs: pd.DataFrame, batches_per_pass: float, step_ms: float, of_first: bool) -> pd.Series[float]:
    """Return what to compare: with a step, the time per batch of a program that overlaps both; else the pipeline's."""
    if of_first:
        return runs["first_ms"]
    batch = runs["batch_ms"] if math.isnan(step_ms) else runs["batch_ms"].clip(lower=step_ms)
    count = batches_per_pass
    return batch if math.isnan(count) or count < 1 else (runs["first_ms"] + (count - 1) * batch) / count
