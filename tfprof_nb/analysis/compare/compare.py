"""A program before a change and after it: what was gained, what changed, and what chance can explain."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats
from tfprof_nb._units import milliseconds
from tfprof_nb.analysis.compare.between_runs import chance, took_turns
from tfprof_nb.analysis.compare.headline import CAPTURE, Headline, explained_by_load, headline, margin, verdict
from tfprof_nb.analysis.compare.measured import Measured
from tfprof_nb.analysis.compare.renumbered import renumbered
from tfprof_nb.analysis.compare.work import Work, changes, unknown, why_not_same
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.steps.breakdown import PARTS
from tfprof_nb.analysis.steps.steps import Steps, measured_steps
from tfprof_nb.formats.marks import SESSION_RUN

Numbers: TypeAlias = "pd.Series[float]"

BETWEEN, OUTSIDE, TIME, DURATION = "between_steps_ms", "outside_steps_ms", "time_ms", "duration_ms"
_METRICS = ["step_ms", *PARTS, BETWEEN]
_OP_KEYS, _KERNEL_KEYS, _MEMORY_KEYS = ["side", "op_type", "op_name"], ["kernel", "op_name"], ["allocator", "metric"]
_SIZES = ["peak_bytes", "heap_bytes", "stack_bytes"]
_NOTED_REMOVING = 0.05  # of the time
NOTED_LOAD = 0.2  # of the processors


_Sides = tuple[Sequence[Measured], Sequence[Measured]]


@dataclass(eq=False, kw_only=True)
class Comparison(Result):
    """A program before and after a change; ``table`` divides the time that a user waits by kind of work.

    All frames have ``before after change change_percent``, ``only_before only_after`` (whether only one of the two has
    the row), ``p_value`` (see below) and ``unit``; a negative change means less after.

    Attributes
    ----------
    steps
        By ``metric``: medians of the measured steps (training steps after warm-up) and of their parts, which need not
        add up; ``between_steps_ms`` is the gap to the next step. Of several runs, the median run.
    ops, kernels
        By ``side op_type op_name`` and by ``kernel op_name``: time (self time of ops) per captured step; where steps
        are not alike, per example or batch, or of the whole capture, as ``unit`` says. The ops of a rebuilt model are
        matched, whatever their numbers.
    memory
        By ``allocator metric``: sizes at the peak.
    typical_step
        ``before after`` by ``metric``: means over the middle half of the steps, whose parts add up, nearly to the
        median step.
    runs
        A row per run: ``side name time_ms other_load_percent``, with the times that are compared.

    Notes
    -----
    The time is that of the same work: of an example where the size of batches is known, else of a batch or a step, else
    of the whole capture. It includes all between the first step and the last (gaps, evaluation, callbacks), and where
    both did as much, all before and after; neither the first tracing of functions nor the removal of old iterators.
    Where these hide most of the change from people who time the cell, whole captures are compared.

    A ``p_value`` is the probability of such a difference between runs by chance: of runs that took turns by the paired
    t test, of others by the Mann-Whitney U test; missing with fewer than 5 runs on a side. ``summary`` has

    - ``speedup``, a factor, ``before_ms`` and ``after_ms``, all ``speedup_of`` the ``time per example`` (or ``batch``,
      ``step``), or the ``capture``; ``speedup_low`` and ``speedup_high``, its 95% interval,
    - ``verdict``: ``faster`` or ``slower``; ``no difference`` that so many runs could show; or, from fewer than 5 runs
      on a side and from runs that did not take turns, ``too small to tell``, below ``margin_percent``,
    - ``in_turn``, whether the runs took turns,
    - ``p_value``, and the numbers of runs, ``measured_before`` and ``measured_after``,
    - ``capture_before_ms`` and ``capture_after_ms``: the whole captures, with all that the time leaves out, and
      ``capture_speedup``, how many times faster they became; NaN if one got more done than the other,
    - ``longer_speedup``, ``longer_before_ms`` and ``longer_after_ms``, ``longer_of`` the time per example (or batch, or
      step), where whole captures are compared because making the model and tracing hide most of the change: what longer
      training comes near to; else NaN and empty,
    - ``step_speedup``, the same of the median step, which may do other work,
    - ``changes``, a list of texts: what was changed, as far as profiles show it,
    - ``same_work``, false if the two did work that cannot be compared, and ``why_not_same``, a list of texts,
    - ``batch_before``, ``batch_after``, ``other_load_before_percent`` and ``other_load_after_percent`` (None if
      unknown): the share of the processors that other programs took.
    """

    steps: pd.DataFrame
    ops: pd.DataFrame
    kernels: pd.DataFrame
    memory: pd.DataFrame
    typical_step: pd.DataFrame
    runs: pd.DataFrame

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
    sides = sorted(before, key=_began), sorted(after, key=_began)
    before, after = sides
    in_turn = took_turns(*(list(map(_began, side)) for side in sides))
    have_steps = all(len(profile.steps.measured) for side in sides for profile in side)
    found = headline([profile.pace for profile in before], [profile.pace for profile in after], in_turn=in_turn)
    steps = _steps(sides, in_turn) if have_steps else no_changes("metric")
    return Comparison(
        _parts(sides, found),
        _summary(found, sides, steps),
        _notes(before, after, found),
        steps=steps,
        ops=_times(sides, "ops", _OP_KEYS, "self_us", found),
        kernels=_times(sides, "kernels", _KERNEL_KEYS, "total_us", found),
        memory=_repeated(_of_each(sides, _peaks), _MEMORY_KEYS, "bytes", in_turn=in_turn, absent=np.nan),
        typical_step=_typical(*sides) if have_steps else pd.DataFrame(columns=["before", "after"]),
        runs=runs_of(
            [profile.name for side in sides for profile in side],
            (found.before, found.after),
            [[profile.other_load for profile in side] for side in sides],
        ),
    )


def _began(profile: Measured) -> int:
    return profile.began_ns


def _parts(sides: _Sides, found: Headline) -> pd.DataFrame:
    """Divide the time that is compared by kind of work; what belongs to no step that counts is one part."""
    times = [*found.before, *found.after]
    scales = np.concatenate(found.scales)
    parts = pd.DataFrame([profile.pace.parts for side in sides for profile in side]).reset_index(drop=True)
    parts = parts.div(scales, axis=0)
    parts.insert(0, DURATION if found.unit == CAPTURE else TIME, times)
    in_steps = parts[PARTS].sum(axis=1)
    parts[OUTSIDE] = (parts.iloc[:, 0] - in_steps).clip(lower=0.0) if in_steps.any() else 0.0
    shown = [name for name in parts if (parts[name] > 0).any() or name == parts.columns[0]]
    old, new = np.split(parts[shown].to_numpy(np.float64).T, [len(sides[0])], axis=1)
    unit = "ms" if found.unit == CAPTURE else f"ms per {found.unit}"
    return changed(pd.DataFrame({"metric": shown}), list(old), list(new), unit, in_turn=found.in_turn)


def runs_of(names: Sequence[str], times: Sequence[Floats], loads: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return `Comparison.runs`: given all names, and each side's times and loads."""
    sides = [label for label, side in zip(("before", "after"), times, strict=True) for _ in side]
    percent = [100 * load for side in loads for load in side]
    return pd.DataFrame({"side": sides, "name": names, "time_ms": np.concatenate(times), "other_load_percent": percent})


def _steps(sides: _Sides, in_turn: bool) -> pd.DataFrame:
    """Compare the median measured steps of runs."""
    runs = [[_with_gaps(profile.steps) for profile in side] for side in sides]
    shown = [metric for metric in _METRICS if any((run[metric] > 0).any() for side in runs for run in side)]
    values = [[np.array([run[metric].median() for run in side]) for metric in shown] for side in runs]
    return changed(pd.DataFrame({"metric": shown}), values[0], values[1], "ms", in_turn=in_turn)


def _typical(before: Sequence[Measured], after: Sequence[Measured]) -> pd.DataFrame:
    means = pd.DataFrame({"before": _middle(before), "after": _middle(after)})
    return means[(means > 0).any(axis=1)]


def _middle(side: Sequence[Measured]) -> Numbers:
    """Average the steps that are neither in the shortest quarter nor in the longest."""
    steps = pd.concat([profile.steps.timed[_METRICS[:-1]] for profile in side])
    times = steps["step_ms"].to_numpy(np.float64)
    middle = (times >= np.quantile(times, 0.25, method="lower")) & (times <= np.quantile(times, 0.75, method="higher"))
    means: Numbers = steps[middle].mean()
    return means.rename_axis("metric")


def no_changes(*keys: str) -> pd.DataFrame:
    """Return a frame of changes without rows."""
    return changed(pd.DataFrame(columns=list(keys)), [], [], "ms")


def _with_gaps(steps: Steps) -> pd.DataFrame:
    """Return the measured steps with the gap to the next step, which is unknown between session runs."""
    table = steps.table
    ends = table["start_ms"] + table["step_ms"]
    gap = table.groupby("host")["start_ms"].shift(-1) - ends
    return measured_steps(table.assign(**{BETWEEN: gap.clip(lower=0.0).where(table["phase"] != SESSION_RUN)}))[_METRICS]


def _times(sides: _Sides, what: str, keys: list[str], time: str, found: Headline) -> pd.DataFrame:
    """Compare times by op or kernel, named as in the last profile after the change."""
    reference = getattr(sides[1][-1], what).table["op_name"].unique()
    alike = _steps_are_alike(sides)

    def times(profile: Measured) -> Numbers:
        table = getattr(profile, what).table
        names = table["op_name"].map(renumbered(table["op_name"].unique(), reference))
        sums: Numbers = table.assign(op_name=names).groupby(keys, sort=False)[time].sum()
        return sums / (len(profile.steps.table) if alike else profile.pace.amounts.get(found.unit, 1.0))

    unit = "step" if alike else found.unit
    of = "us" if unit == CAPTURE else f"us per {unit}"
    return _repeated(_of_each(sides, times), keys, of, in_turn=found.in_turn)


def _steps_are_alike(sides: _Sides) -> bool:
    """Whether all runs have marked steps of the same number of examples."""
    profiles = [profile for side in sides for profile in side]
    sizes = {(profile.work.batch, profile.work.per_execution) for profile in profiles}
    return len(sizes) == 1 and all("step" in profile.pace.amounts for profile in profiles)


def _of_each(sides: _Sides, of: Callable[[Measured], Numbers]) -> tuple[list[Numbers], list[Numbers]]:
    before, after = ([of(profile) for profile in side] for side in sides)
    return before, after


def _peaks(profile: Measured) -> Numbers:
    """Return the sizes at each allocator's peak, by allocator and metric."""
    allocators = profile.memory.allocators
    sizes: Numbers = pd.concat({size: allocators[size].astype(np.float64) for size in _SIZES})
    return sizes.swaplevel().dropna()


def _repeated(
    profiles: tuple[list[Numbers], list[Numbers]], keys: list[str], unit: str, *, in_turn: bool, absent: float = 0.0
) -> pd.DataFrame:
    """Compare numbers of profiles by keys, the largest change first; ``absent`` replaces a missing number."""
    before, after = profiles
    table = pd.concat([*before, *after], axis=1, keys=range(len(before) + len(after))).rename_axis(keys)
    values, there = table.fillna(absent).to_numpy(np.float64), table.notna().to_numpy()
    was, is_now = (np.asarray(side.any(axis=1), dtype=bool) for side in np.split(there, [len(before)], axis=1))
    old, new = ([row[np.isfinite(row)] for row in side] for side in np.split(values, [len(before)], axis=1))
    index = table.index.to_frame(index=False) if len(table) else pd.DataFrame(columns=keys)
    frame = changed(index, old, new, unit, in_turn=in_turn).assign(only_before=was & ~is_now, only_after=is_now & ~was)
    return frame.sort_values("change", key=np.abs, ascending=False, kind="stable", ignore_index=True)


def changed(
    keys: pd.DataFrame, before: list[Floats], after: list[Floats], unit: str, *, in_turn: bool = False
) -> pd.DataFrame:
    """Compare the medians of values: ``before`` and ``after`` have an array for each row of ``keys``."""
    old, new = (np.array([_median(values) for values in side], dtype=np.float64) for side in (before, after))
    percent = np.divide(100 * (new - old), old, out=np.full(len(old), np.nan), where=old > 0)
    chances = [chance(*pair, in_turn=in_turn) for pair in zip(before, after, strict=True)]
    return keys.assign(
        before=old,
        after=new,
        change=new - old,
        change_percent=percent,
        only_before=np.array([o.any() and not n.any() for o, n in zip(before, after, strict=True)], dtype=bool),
        only_after=np.array([n.any() and not o.any() for o, n in zip(before, after, strict=True)], dtype=bool),
        p_value=np.array(chances, dtype=np.float64),
        unit=unit,
    )


def _median(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")


def _summary(found: Headline, sides: _Sides, steps: pd.DataFrame) -> dict[str, object]:
    before, after = sides
    loads = [[profile.other_load for profile in side] for side in sides]
    spreads = [profile.pace.spread for side in sides for profile in side]
    told = margin(found, spreads, [*loads[0], *loads[1]])
    alike = len(steps) > 0 and _steps_are_alike(sides)
    step = (float(steps.iloc[0]["change"]), float(steps.iloc[0]["p_value"])) if alike else (0.0, 1.0)
    judged = verdict(found, told, explained_by_load(*loads), step)
    reasons = list(dict.fromkeys(why for pair in product(before, after) for why in why_not_same(*_works(pair))))
    captures = [float(np.median([profile.pace.duration_ms for profile in side])) for side in sides]
    return {
        **summary_of(found),
        "verdict": judged,
        "margin_percent": 100 * told,
        "capture_before_ms": captures[0],
        "capture_after_ms": captures[1],
        "capture_speedup": captures[0] / captures[1] if found.whole and captures[1] > 0 else math.nan,
        "step_speedup": _factor(steps.iloc[0]) if len(steps) else math.nan,
        "changes": changes(*map(_typical_work, sides)),
        "same_work": not reasons,
        "why_not_same": reasons,
        "batch_before": before[0].work.batch,
        "batch_after": after[0].work.batch,
        "other_load_before_percent": median_percent(loads[0]),
        "other_load_after_percent": median_percent(loads[1]),
    }


def summary_of(found: Headline) -> dict[str, object]:
    """Return the numbers of a headline, as `Comparison` names them."""
    before, after = found.medians
    low, high = found.interval
    return {
        "speedup": found.speedup,
        "speedup_of": CAPTURE if found.unit == CAPTURE else f"time per {found.unit}",
        "speedup_low": low,
        "speedup_high": high,
        "before_ms": before,
        "after_ms": after,
        "p_value": found.p_value,
        "measured_before": len(found.before),
        "measured_after": len(found.after),
        "in_turn": found.in_turn,
        **_longer(found),
    }


def _longer(found: Headline) -> dict[str, object]:
    of = found.longer or found
    before, after = of.medians
    return {
        "longer_speedup": of.speedup if found.longer else math.nan,
        "longer_of": f"time per {of.unit}" if found.longer else "",
        "longer_before_ms": before if found.longer else math.nan,
        "longer_after_ms": after if found.longer else math.nan,
    }


def _factor(row: pd.Series[float]) -> float:
    return float(row["before"] / row["after"]) if row["after"] > 0 else math.nan


def median_percent(shares: Sequence[float]) -> float | None:
    """Return the median of the shares that are known, in percent; None if none is."""
    known = [share for share in shares if not math.isnan(share)]
    return 100 * float(np.median(known)) if known else None


def _typical_work(side: Sequence[Measured]) -> Work:
    return replace(side[0].work, float_ops=float(np.median([profile.work.float_ops for profile in side])))


def _works(pair: tuple[Measured, Measured]) -> tuple[Work, Work]:
    return pair[0].work, pair[1].work


def _notes(before: Sequence[Measured], after: Sequence[Measured], found: Headline) -> list[str]:
    notes = []
    missing = list(dict.fromkeys(name for pair in product(before, after) for name in unknown(*_works(pair))))
    if missing:
        notes.append(
            f"It is not known whether {' or '.join(missing)} changed: not both profiles record it. Captures by "
            "%%tfprofile record most."
        )
    notes += _time_notes(before, after, found)
    notes += _step_notes(before, after)
    for name in ("ops", "kernels"):
        recorded = [any(len(getattr(profile, name).table) for profile in side) for side in (before, after)]
        if any(recorded) and not all(recorded):
            notes.append(f"{name.capitalize()} were recorded only {'before' if recorded[0] else 'after'}.")
    return notes


def _time_notes(before: Sequence[Measured], after: Sequence[Measured], found: Headline) -> list[str]:
    """Say what the time rests on, what it leaves out, and what disturbed it."""
    notes = []
    if found.unit == CAPTURE and not found.longer:
        notes.append(
            "Whole captures are compared, because it is not known how many examples they processed: that both did the "
            "same work is assumed."
        )
    elif found.unit != "example":
        notes.append(
            f"The time is per {found.unit}, because the size of batches is not known: that it is the same is assumed."
        )
    removing = [float(np.median([profile.pace.removing_ms for profile in side])) for side in (before, after)]
    times = [median * float(np.median(scale)) for median, scale in zip(found.medians, found.scales, strict=True)]
    noted = any(took > _NOTED_REMOVING * time for took, time in zip(removing, times, strict=True))
    if noted and (found.unit != CAPTURE or found.longer):
        notes.append(
            f"Left out: {milliseconds(removing[0])} before and {milliseconds(removing[1])} after in which TensorFlow "
            "removed iterators of finished passes (TFE_DeleteTensorHandle): whether one takes half a second is chance."
        )
    loads = [median_percent([profile.other_load for profile in side]) or 0.0 for side in (before, after)]
    if max(loads) >= 100 * NOTED_LOAD:
        notes.append(
            f"Other programs took {loads[0]:.0f}% of the processors before and {loads[1]:.0f}% after: they make steps "
            "slower. Compare runs on a quiet machine, or several of each: `%%tfprofile NAME --repeat 5`."
        )
    if max(len(before), len(after)) > 1 and not found.in_turn:
        known = all(profile.began_ns for side in (before, after) for profile in side)
        notes.append(
            f"{'The runs did not take turns' if known else 'It is not known whether the runs took turns'}. A machine "
            "that became slower or faster meanwhile, often by 10% to 20%, shows as a difference: `tp.experiment` lets "
            "two programs take turns."
        )
    return notes


def _step_notes(before: Sequence[Measured], after: Sequence[Measured]) -> list[str]:
    """Say why steps may not be comparable."""
    steps = [[profile.steps for profile in side] for side in (before, after)]
    sources = [" or ".join(sorted({str(s.summary["source"]) for s in side})) for side in steps]
    notes = []
    if sources[0] != sources[1]:
        ways = f"{sources[0]} before, {sources[1]} after"
        notes.append(f"Steps were detected in different ways ({ways}): compare them with care.")
    if any(s.table["warm_up"].all() for side in steps for s in side if len(s.table)):
        notes.append("In one of the profiles every step traced or compiled: capture more steps to compare their times.")
    return notes
