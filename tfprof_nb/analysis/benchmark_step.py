"""What a training step costs on a batch in memory, as it is and changed, by example.

In: times of runs that took turns. A ratio is of runs of the same round; a figure is the median of the rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._units import US_PER_MS
from tfprof_nb.analysis.result import Result

COLUMNS = [
    "name",
    "examples",
    "step_ms",
    "step_ms_low",
    "step_ms_high",
    "example_us",
    "examples_per_second",
    "speedup",
    "rounds",
    "steps",
]
# A change is recommended that makes so many times the examples, in nearly all rounds.
_WORTH_IT, _NEARLY_ALL = 1.1, 0.75


@dataclass(eq=False)
class StepBenchmark(Result):
    """A measured step.

    ``table`` has one row per variant, the first as it is: ``name examples step_ms step_ms_low step_ms_high example_us
    examples_per_second speedup rounds steps``. ``step_ms`` is the time of a step of ``examples``, the median of
    ``rounds``, from ``step_ms_low`` to ``step_ms_high``; ``speedup`` is how many times as many examples per second a
    variant makes as the step as it is.
    """

    @property
    def code(self) -> str:
        """The best variant as code; empty if none is better, or if it is another batch."""
        return str(self.summary["code"])


def step_benchmark(runs: pd.DataFrame, variants: pd.DataFrame, seconds: float) -> StepBenchmark:
    """Sum up runs.

    Parameters
    ----------
    runs
        ``variant round batch_ms batches``: ``batch_ms`` is the time of a step.
    variants
        ``name examples per_run code``, by number; the first is the step as it is, ``per_run`` the steps of a run.
    """
    by = runs.groupby("variant")
    examples = variants["examples"]
    table = pd.DataFrame(
        {
            "name": variants["name"],
            "examples": examples,
            "step_ms": by["batch_ms"].median(),
            "step_ms_low": by["batch_ms"].min(),
            "step_ms_high": by["batch_ms"].max(),
            "rounds": by["round"].nunique(),
            "steps": by["batches"].sum() * variants["per_run"],
        },
        index=variants.index,
    ).dropna(subset="step_ms")
    table["example_us"] = US_PER_MS * table["step_ms"] / table["examples"]
    table["examples_per_second"] = 1e6 / table["example_us"]
    ratios = _ratios(runs, examples)
    table["speedup"] = ratios.median()
    clear = (ratios > 1).sum() >= _NEARLY_ALL * ratios.notna().sum()
    better = table[(table["speedup"] >= _WORTH_IT) & clear.reindex(table.index)]
    best = better.nlargest(1, "speedup")
    first = table.iloc[0]
    summary: dict[str, Any] = {
        "step_ms": float(first["step_ms"]),
        "example_us": float(first["example_us"]),
        "examples_per_second": float(first["examples_per_second"]),
        "best": "".join(best["name"]),
        "best_speedup": float(best["speedup"].iloc[0]) if len(best) else math.nan,
        "code": "".join(variants.loc[best.index, "code"]),
        "rounds": int(runs["round"].nunique()),
        "seconds": seconds,
    }
    return StepBenchmark(table[COLUMNS].astype({"rounds": np.int64, "steps": np.int64}), summary)


def _ratios(runs: pd.DataFrame, examples: pd.Series[int]) -> pd.DataFrame:
    """Return by round and variant how many times as many examples it makes as the first variant."""
    wide = runs.pivot_table(index="round", columns="variant", values="batch_ms")
    per_example = wide / examples[wide.columns]
    return 1 / per_example.div(per_example.iloc[:, 0], axis=0)
