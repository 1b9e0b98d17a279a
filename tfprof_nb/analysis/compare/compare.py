"""Two profiles of one program, before a change and after it: what changed, and what chance can explain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats
from tfprof_nb.analysis.compare.mann_whitney import p_value
from tfprof_nb.analysis.compare.renumbered import renumbered
from tfprof_nb.analysis.compare.work import Work, unknown, why_not_same
from tfprof_nb.analysis.kernels import Kernels
from tfprof_nb.analysis.memory.memory import Memory
from tfprof_nb.analysis.ops.ops import Ops
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.steps.breakdown import PARTS
from tfprof_nb.analysis.steps.steps import Steps, measured_steps
from tfprof_nb.formats.marks import SESSION_RUN

Numbers: TypeAlias = "pd.Series[float]"

BETWEEN = "between_steps_ms"
CHANGES = ["before", "after", "change", "change_percent", "only_before", "only_after", "p_value", "unit"]
_METRICS = ["step_ms", *PARTS, BETWEEN]
_OP_KEYS, _KERNEL_KEYS, _MEMORY_KEYS = ["side", "op_type", "op_name"], ["kernel", "op_name"], ["allocator", "metric"]
_SIZES = ["peak_bytes", "heap_bytes", "stack_bytes"]
_SIGNIFICANCE = 0.05  # the usual level: a less likely difference counts as one


@dataclass(frozen=True, eq=False)
class Measured:
    """What a comparison uses of one profile."""

    steps: Steps
    ops: Ops
    kernels: Kernels
    memory: Memory
    duration_ms: float
    work: Work


_Sides = tuple[Sequence[Measured], Sequence[Measured]]


@dataclass(eq=False, kw_only=True)
class Comparison(Result):
    """Two profiles side by side; ``table`` has the median step and its parts, or without steps the captures' times.

    All frames have ``before after change change_percent``, ``only_before only_after`` (whether only one of the two has
    the row), ``p_value`` (see below) and ``unit``; a negative change means less after.

    Attributes
    ----------
    steps
        By ``metric``: medians of the measured steps (training steps after warm-up) and of their parts, which need not
        add up; ``between_steps_ms`` is the gap to the next step.
    ops, kernels
        By ``side op_type op_name`` and by ``kernel op_name``: time (self time of ops) per captured step, or of the
        whole capture if a profile has no steps. The ops of a rebuilt model are matched, whatever their numbers.
    memory
        By ``allocator metric``: sizes at the peak.
    typical_step
        ``before after`` by ``metric``: means over the middle half of the steps, whose parts add up, nearly to the
        median step.

    Notes
    -----
    A ``p_value`` is the probability of such a difference by chance, by the Mann-Whitney U test: of steps, or of whole
    profiles if several are given; missing with fewer than 5 on a side. ``summary`` has

    - ``speedup``, a factor, ``before_ms`` and ``after_ms``, all ``speedup_of`` the ``median training step`` (or
      ``median step``, ``capture``),
    - ``verdict``: ``faster``, ``slower``, ``no difference``, or ``unsure`` if too little was measured,
      ``p_value``, and the numbers of values behind them, ``measured_before`` and ``measured_after``,
    - ``same_work``, false if the profiles show that the work differed, and ``why_not_same``, a list of texts.
    """

    steps: pd.DataFrame
    ops: pd.DataFrame
    kernels: pd.DataFrame
    memory: pd.DataFrame
    typical_step: pd.DataFrame

    @property
    def only_before(self) -> pd.DataFrame:
        """Ops and kernels that only ran before: ``kind name time unit``."""
        return self._only("before")

    @property
    def only_after(self) -> pd.DataFrame:
        """Ops and kernels that only ran after: ``kind name time unit``."""
        return self._only("after")

    def _only(self, side: str) -> pd.DataFrame:
        parts = [
            rows[rows[f"only_{side}"]].rename(columns={key: "name", side: "time"}).assign(kind=kind)
            for kind, key, rows in (("op", "op_name", self.ops), ("kernel", "kernel", self.kernels))
        ]
        return pd.concat(part[["kind", "name", "time", "unit"]] for part in parts).reset_index(drop=True)


def comparison(before: Sequence[Measured], after: Sequence[Measured]) -> Comparison:
    """Compare two profiles, or two groups of repeats.

    Parameters
    ----------
    before, after
        One each, or several profiles of the same program.
    """
    sides = before, after
    have_steps = all(len(profile.steps.measured) for side in sides for profile in side)
    steps = _steps(*sides) if have_steps else _no_steps()
    table = steps if have_steps else _repeated(_of_each(sides, _duration), ["metric"], "ms")
    return Comparison(
        table,
        _summary(table, before, after, have_steps=have_steps),
        _notes(before, after),
        steps=steps,
        ops=_times(sides, "ops", _OP_KEYS, "self_us", per_step=have_steps),
        kernels=_times(sides, "kernels", _KERNEL_KEYS, "total_us", per_step=have_steps),
        memory=_repeated(_of_each(sides, _peaks), _MEMORY_KEYS, "bytes", absent=np.nan),
        typical_step=_typical(*sides) if have_steps else pd.DataFrame(columns=["before", "after"]),
    )


def _steps(before: Sequence[Measured], after: Sequence[Measured]) -> pd.DataFrame:
    """Compare the measured steps, those of all profiles of a side together."""
    old, new = (pd.concat([_with_gaps(profile.steps) for profile in side]) for side in (before, after))
    shown = [metric for metric in _METRICS if (old[metric] > 0).any() or (new[metric] > 0).any()]
    values = [[side[metric].dropna().to_numpy(np.float64) for metric in shown] for side in (old, new)]
    return _changes(pd.DataFrame({"metric": shown}), values[0], values[1], "ms")


def _typical(before: Sequence[Measured], after: Sequence[Measured]) -> pd.DataFrame:
    means = pd.DataFrame({"before": _middle(before), "after": _middle(after)})
    return means[(means > 0).any(axis=1)]


def _middle(side: Sequence[Measured]) -> Numbers:
    """Average the steps that are neither in the shortest quarter nor in the longest."""
    steps = pd.concat([profile.steps.measured[_METRICS[:-1]] for profile in side])
    times = steps["step_ms"].to_numpy(np.float64)
    middle = (times >= np.quantile(times, 0.25, method="lower")) & (times <= np.quantile(times, 0.75, method="higher"))
    means: Numbers = steps[middle].mean()
    return means.rename_axis("metric")


def _no_steps() -> pd.DataFrame:
    return _changes(pd.DataFrame(columns=["metric"]), [], [], "ms")


def _with_gaps(steps: Steps) -> pd.DataFrame:
    """Return the measured steps with the gap to the next step, which is unknown between session runs."""
    table = steps.table
    ends = table["start_ms"] + table["step_ms"]
    gap = table.groupby("host")["start_ms"].shift(-1) - ends
    return measured_steps(table.assign(**{BETWEEN: gap.clip(lower=0.0).where(table["phase"] != SESSION_RUN)}))[_METRICS]


def _times(sides: _Sides, what: str, keys: list[str], time: str, *, per_step: bool) -> pd.DataFrame:
    """Compare times by op or kernel, named as in the last profile after the change."""
    reference = getattr(sides[1][-1], what).table["op_name"].unique()

    def times(profile: Measured) -> Numbers:
        table = getattr(profile, what).table
        names = table["op_name"].map(renumbered(table["op_name"].unique(), reference))
        sums: Numbers = table.assign(op_name=names).groupby(keys, sort=False)[time].sum()
        return sums / len(profile.steps.table) if per_step else sums

    return _repeated(_of_each(sides, times), keys, "us per step" if per_step else "us")


def _of_each(sides: _Sides, of: Callable[[Measured], Numbers]) -> tuple[list[Numbers], list[Numbers]]:
    before, after = ([of(profile) for profile in side] for side in sides)
    return before, after


def _duration(profile: Measured) -> Numbers:
    return pd.Series([profile.duration_ms], index=["duration_ms"])


def _peaks(profile: Measured) -> Numbers:
    """Return the sizes at each allocator's peak, by allocator and metric."""
    allocators = profile.memory.allocators
    sizes: Numbers = pd.concat({size: allocators[size].astype(np.float64) for size in _SIZES})
    return sizes.swaplevel().dropna()


def _repeated(
    profiles: tuple[list[Numbers], list[Numbers]], keys: list[str], unit: str, absent: float = 0.0
) -> pd.DataFrame:
    """Compare numbers of profiles by keys, the largest change first; ``absent`` replaces a missing number."""
    before, after = profiles
    table = pd.concat([*before, *after], axis=1, keys=range(len(before) + len(after))).rename_axis(keys)
    values, there = table.fillna(absent).to_numpy(np.float64), table.notna().to_numpy()
    was, is_now = (np.asarray(side.any(axis=1), dtype=bool) for side in np.split(there, [len(before)], axis=1))
    old, new = ([row[np.isfinite(row)] for row in side] for side in np.split(values, [len(before)], axis=1))
    index = table.index.to_frame(index=False) if len(table) else pd.DataFrame(columns=keys)
    frame = _changes(index, old, new, unit).assign(only_before=was & ~is_now, only_after=is_now & ~was)
    return frame.sort_values("change", key=np.abs, ascending=False, kind="stable", ignore_index=True)


def _changes(keys: pd.DataFrame, before: list[Floats], after: list[Floats], unit: str) -> pd.DataFrame:
    """Compare the medians of values: ``before`` and ``after`` have an array for each row of ``keys``."""
    old, new = (np.array([_median(values) for values in side], dtype=np.float64) for side in (before, after))
    percent = np.divide(100 * (new - old), old, out=np.full(len(old), np.nan), where=old > 0)
    chance = [p_value(*pair) for pair in zip(before, after, strict=True)]
    return keys.assign(
        before=old,
        after=new,
        change=new - old,
        change_percent=percent,
        only_before=[bool(o.any() and not n.any()) for o, n in zip(before, after, strict=True)],
        only_after=[bool(n.any() and not o.any()) for o, n in zip(before, after, strict=True)],
        p_value=np.array(chance, dtype=np.float64),
        unit=unit,
    )


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else float("nan")


def _summary(
    table: pd.DataFrame, before: Sequence[Measured], after: Sequence[Measured], *, have_steps: bool
) -> dict[str, object]:
    first = table.iloc[0]
    training = have_steps and all(profile.work.phase == "train" for profile in (*before, *after))
    counts = [
        sum(len(profile.steps.measured) for profile in side) if have_steps else len(side) for side in (before, after)
    ]
    reasons = list(dict.fromkeys(why for pair in product(before, after) for why in why_not_same(*_works(pair))))
    return {
        "speedup": float(first["before"] / first["after"]) if first["after"] > 0 else float("nan"),
        "speedup_of": "median training step" if training else "median step" if have_steps else "capture",
        "before_ms": float(first["before"]),
        "after_ms": float(first["after"]),
        "p_value": float(first["p_value"]),
        "verdict": _verdict(first),
        "measured_before": counts[0],
        "measured_after": counts[1],
        "same_work": not reasons,
        "why_not_same": reasons,
    }


def _works(pair: tuple[Measured, Measured]) -> tuple[Work, Work]:
    return pair[0].work, pair[1].work


def _verdict(row: pd.Series[Any]) -> str:
    if np.isnan(row["p_value"]):
        return "unsure"
    if row["p_value"] >= _SIGNIFICANCE or row["change"] == 0:
        return "no difference"
    return "faster" if row["change"] < 0 else "slower"


def _notes(before: Sequence[Measured], after: Sequence[Measured]) -> list[str]:
    notes = []
    missing = list(dict.fromkeys(name for pair in product(before, after) for name in unknown(*_works(pair))))
    if missing:
        notes.append(
            f"The check for the same work leaves out {', '.join(missing)}, which not both profiles record. Captures by "
            "%%tfprofile record most."
        )
    notes += _step_notes(before, after)
    for name in ("ops", "kernels"):
        recorded = [any(len(getattr(profile, name).table) for profile in side) for side in (before, after)]
        if any(recorded) and not all(recorded):
            notes.append(f"{name.capitalize()} were recorded only {'before' if recorded[0] else 'after'}.")
    return notes


def _step_notes(before: Sequence[Measured], after: Sequence[Measured]) -> list[str]:
    """Say which steps are missing, and why steps may not be comparable."""
    steps = [[profile.steps for profile in side] for side in (before, after)]
    without = [
        side for side, of_side in zip(("before", "after"), steps, strict=True) if any(s.table.empty for s in of_side)
    ]
    if without:
        which = "neither side has steps" if len(without) > 1 else f"there are no steps {without[0]}"
        return [f"Whole captures are compared, because {which}. Mark steps to compare them."]
    sources = [" or ".join(sorted({str(s.summary["source"]) for s in side})) for side in steps]
    notes = []
    if sources[0] != sources[1]:
        ways = f"{sources[0]} before, {sources[1]} after"
        notes.append(f"Steps were detected in different ways ({ways}) and may not be comparable.")
    if any(s.table["warm_up"].all() for side in steps for s in side):
        notes.append("In one of the profiles every step traced or compiled: capture more steps to compare their times.")
    return notes
