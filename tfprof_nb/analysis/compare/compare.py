"""Two profiles of one program, before a change and after it: how much faster, what changed, and whether by chance."""

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
_CHANCE = 0.05  # the usual bound: differences less likely by chance count as such


@dataclass(frozen=True, eq=False)
class Measured:
    """What a comparison looks at in one profile."""

    steps: Steps
    ops: Ops
    kernels: Kernels
    memory: Memory
    duration_ms: float
    work: Work


_Sides = tuple[Sequence[Measured], Sequence[Measured]]


@dataclass(eq=False, kw_only=True)
class Comparison(Result):
    """Two profiles side by side; ``table`` has the median step and its parts, or the captures' times without steps.

    All frames have ``before after change change_percent``, ``only_before only_after`` (whether the row stands in one of
    the two only), ``p_value`` (see below) and ``unit``; a change is negative where there is less after.

    Attributes
    ----------
    steps
        By ``metric``: medians of the measured steps (training steps after warm-up) and of their parts, which need not
        add up; ``between_steps_ms`` is the time until the next step begins.
    ops, kernels
        By ``side op_type op_name`` and by ``kernel op_name``: time (self time of ops) per captured step, or of the
        whole capture where a profile has no steps. A rebuilt model's ops are matched whatever their numbers.
    memory
        By ``allocator metric``: sizes at the peak.
    typical_step
        ``before after`` by ``metric``: means over the middle half of the steps, so that parts do add up, nearly to the
        median step.

    Notes
    -----
    A ``p_value`` is how likely such a difference is by chance, by the Mann-Whitney U test: of steps, or of whole
    profiles where several were given; missing with fewer than 5 on a side. ``summary`` has

    - ``speedup``, a factor, ``before_ms`` and ``after_ms``, all ``speedup_of`` the ``median training step`` (or
      ``median step``, ``capture``),
    - ``verdict``: ``faster``, ``slower``, ``no difference``, or ``unsure`` where too little was measured,
      ``p_value``, and the numbers of values behind them, ``measured_before`` and ``measured_after``,
    - ``same_work``, false where the profiles tell that not the same was done, and ``why_not_same``, a list of texts.
    """

    steps: pd.DataFrame
    ops: pd.DataFrame
    kernels: pd.DataFrame
    memory: pd.DataFrame
    typical_step: pd.DataFrame

    @property
    def only_before(self) -> pd.DataFrame:
        """Ops and kernels that are gone: ``kind name time unit``."""
        return self._only("before")

    @property
    def only_after(self) -> pd.DataFrame:
        """Ops and kernels that are new: ``kind name time unit``."""
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
    """Compare the steps of all profiles of a side at once."""
    old, new = (pd.concat([_with_gaps(one.steps) for one in side]) for side in (before, after))
    shown = [metric for metric in _METRICS if (old[metric] > 0).any() or (new[metric] > 0).any()]
    values = [[side[metric].dropna().to_numpy(np.float64) for metric in shown] for side in (old, new)]
    return _changes(pd.DataFrame({"metric": shown}), values[0], values[1], "ms")


def _typical(before: Sequence[Measured], after: Sequence[Measured]) -> pd.DataFrame:
    means = pd.DataFrame({"before": _middle(before), "after": _middle(after)})
    return means[(means > 0).any(axis=1)]


def _middle(side: Sequence[Measured]) -> Numbers:
    """Average the steps that are neither among the shortest quarter nor among the longest."""
    steps = pd.concat([one.steps.measured[_METRICS[:-1]] for one in side])
    times = steps["step_ms"].to_numpy(np.float64)
    middle = (times >= np.quantile(times, 0.25, method="lower")) & (times <= np.quantile(times, 0.75, method="higher"))
    means: Numbers = steps[middle].mean()
    return means.rename_axis("metric")


def _no_steps() -> pd.DataFrame:
    return _changes(pd.DataFrame(columns=["metric"]), [], [], "ms")


def _with_gaps(steps: Steps) -> pd.DataFrame:
    """The measured steps with the time until each one's next; of session runs nothing is known of it."""
    table = steps.table
    ends = table["start_ms"] + table["step_ms"]
    gap = table.groupby("host")["start_ms"].shift(-1) - ends
    return measured_steps(table.assign(**{BETWEEN: gap.clip(lower=0.0).where(table["phase"] != SESSION_RUN)}))[_METRICS]


def _times(sides: _Sides, what: str, keys: list[str], time: str, *, per_step: bool) -> pd.DataFrame:
    """Compare times by op or kernel, named as in the last profile after."""
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
    """Sizes at each allocator's peak, by allocator and metric."""
    allocators = profile.memory.allocators
    sizes: Numbers = pd.concat({size: allocators[size].astype(np.float64) for size in _SIZES})
    return sizes.swaplevel().dropna()


def _repeated(
    profiles: tuple[list[Numbers], list[Numbers]], keys: list[str], unit: str, absent: float = 0.0
) -> pd.DataFrame:
    """Compare what profiles tell by keys, the greatest change first; ``absent`` is the number where one tells none."""
    before, after = profiles
    table = pd.concat([*before, *after], axis=1, keys=range(len(before) + len(after))).rename_axis(keys)
    values, there = table.fillna(absent).to_numpy(np.float64), table.notna().to_numpy()
    was, is_now = (np.asarray(side.any(axis=1), dtype=bool) for side in np.split(there, [len(before)], axis=1))
    old, new = ([row[np.isfinite(row)] for row in side] for side in np.split(values, [len(before)], axis=1))
    index = table.index.to_frame(index=False) if len(table) else pd.DataFrame(columns=keys)
    frame = _changes(index, old, new, unit).assign(only_before=was & ~is_now, only_after=is_now & ~was)
    return frame.sort_values("change", key=np.abs, ascending=False, kind="stable", ignore_index=True)


def _changes(keys: pd.DataFrame, before: list[Floats], after: list[Floats], unit: str) -> pd.DataFrame:
    """Compare the medians of the values of each row."""
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
    training = have_steps and all(one.work.phase == "train" for one in (*before, *after))
    counts = [sum(len(one.steps.measured) for one in side) if have_steps else len(side) for side in (before, after)]
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
    if row["p_value"] >= _CHANCE or row["change"] == 0:
        return "no difference"
    return "faster" if row["change"] < 0 else "slower"


def _notes(before: Sequence[Measured], after: Sequence[Measured]) -> list[str]:
    notes = []
    missing = list(dict.fromkeys(name for pair in product(before, after) for name in unknown(*_works(pair))))
    if missing:
        notes.append(
            f"Whether both did the same work is judged without {', '.join(missing)}: not both profiles tell. "
            "Captures by %%tfprofile tell most."
        )
    notes += _step_notes(before, after)
    for name, what in (("ops", "op"), ("kernels", "kernel")):
        recorded = [any(len(getattr(one, name).table) for one in side) for side in (before, after)]
        if any(recorded) and not all(recorded):
            notes.append(f"Only {'before' if recorded[0] else 'after'} was any {what} recorded.")
    return notes


def _step_notes(before: Sequence[Measured], after: Sequence[Measured]) -> list[str]:
    """Say where steps are missing, or are not the same thing on both sides."""
    steps = [[one.steps for one in side] for side in (before, after)]
    without = [
        side for side, found in zip(("before", "after"), steps, strict=True) if any(s.table.empty for s in found)
    ]
    if without:
        where = "on either side" if len(without) > 1 else without[0]
        return [f"Whole captures are compared, because there are no steps {where}. Mark steps to compare them."]
    sources = [" or ".join(sorted({str(s.summary["source"]) for s in side})) for side in steps]
    notes = []
    if sources[0] != sources[1]:
        notes.append(f"Steps come from other sources ({sources[0]} before, {sources[1]} after): they may not be alike.")
    if any(s.table["warm_up"].all() for side in steps for s in side):
        notes.append("In one of the profiles every step traced or compiled: run more steps to compare what they cost.")
    return notes
