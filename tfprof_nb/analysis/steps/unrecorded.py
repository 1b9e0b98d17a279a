"""Steps whose ops were not recorded (`capture.detail`): the steady recorded steps of their phase stand for them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Floats, Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.recorded_ops import Windows
from tfprof_nb.analysis.steps.breakdown import PARTS
from tfprof_nb.analysis.steps.passes import fetches_of

_TIMED = 4  # so many unrecorded steps tell how long steps take when nothing slows them
_SLOWED = 1.1  # times as long: from here on it is said
_MORE_OFTEN = (
    2.0  # times the part of others: so much of the recorded time is of long steps that do not stand for others
)
_WAITS = 2.0  # times as long as others: from here on the first step of a pass waits for its data
_MUCH_LONGER, _PAUSE = 5, 0.05  # times other steps, or the usual pause between steps; and of a step


class Factors(NamedTuple):
    """By how much a recorded event stands for those that were not recorded: in number, and in time."""

    number: Floats
    time: Floats


def stand_for_others(table: pd.DataFrame) -> Bools:
    """Return per step whether it is a steady one whose ops were recorded, where those of others were not.

    Much longer ones, as the run of a session that initialises variables, are none where the others had fewer of them.
    """
    recorded, phase = table["ops_recorded"].astype(bool), table["phase"]
    step_ms = table["step_ms"].mask(table["warm_up"].astype(bool))
    longer = step_ms > _MUCH_LONGER * step_ms.groupby([phase, recorded]).transform("median")
    part = (step_ms * longer).groupby([phase, recorded]).transform("sum")
    part /= step_ms.groupby([phase, recorded]).transform("sum")
    unlike = longer & (part > _MORE_OFTEN * part.mask(recorded).groupby(phase).transform("max"))
    chosen: Bools = (recorded & step_ms.notna() & ~unlike).to_numpy() & (not recorded.all())
    return chosen


def _kinds(table: pd.DataFrame) -> Iterator[tuple[Bools, pd.DataFrame]]:
    """Yield for each kind of unrecorded steps which these are, and the steps that stand for them.

    The first step of a pass over the data, whose buffers are empty, stands only for other first ones: it is recorded
    more often than those that follow.
    """
    recorded, stands = table["ops_recorded"].to_numpy(dtype=bool), stand_for_others(table)
    first = _begins_pass(table)
    for phase in table.loc[~recorded, "phase"].unique():
        of_phase = (table["phase"] == phase).to_numpy()
        for mine in (of_phase & first, of_phase & ~first):
            if (mine & ~recorded).any():
                like = mine & stands if (mine & stands).any() else of_phase & stands
                yield mine & ~recorded, table[like]


def _begins_pass(table: pd.DataFrame) -> Bools:
    """Return per step whether it is the first of its phase and epoch, or comes after a pause, as first ones do."""
    epoch, phase, start = table["epoch"].fillna(-1), table["phase"], table["start_ms"]
    pause = start - (start + table["step_ms"]).shift()
    usual = _MUCH_LONGER * pause.median() + _PAUSE * table["step_ms"].median()
    begins: Bools = ((phase != phase.shift()) | (epoch != epoch.shift()) | (pause > usual)).to_numpy(dtype=bool)
    return begins


def estimated(table: pd.DataFrame, fetched_ms: Floats) -> pd.DataFrame:
    """Let unrecorded steps be made of the same parts as those that stand for them; without any, of ``other_ms``.

    Tracing, compiling and fetches of batches from Python are known of all steps: ``fetched_ms`` has the latter. What
    the first step of a pass takes longer than the others, where only others were recorded, is the wait for its data.
    """
    table, fetches = table.copy(), fetched_ms[~table["ops_recorded"].to_numpy(dtype=bool)].any()
    waits_ms = waits_of_first(table) * (not fetches)
    for left, like in _kinds(table):
        means = like[PARTS].mean().fillna(0.0)
        if fetches:
            means["input_ms"] = 0.0
        if not means.sum():
            means["other_ms"] = 1.0
        known = {"compile_ms": table.loc[left, "compile_ms"].to_numpy(), "input_ms": (fetched_ms + waits_ms)[left]}
        rest_ms = table.loc[left, "step_ms"].to_numpy() - sum(known.values())
        table.loc[left, PARTS] = np.outer(rest_ms, means / means.sum())
        for part, known_ms in known.items():
            table.loc[left, part] += known_ms
    return table


def waits_of_first(table: pd.DataFrame) -> Floats:
    """Return for how long unrecorded first steps of passes waited for data, in ms, and 0 for all other steps.

    Where only other steps were recorded, it is by how much longer than these they took, if that is much.
    """
    waits_ms, first = np.zeros(len(table)), pd.Series(_begins_pass(table), table.index)
    for left, like in _kinds(table):
        usual_ms = like["step_ms"].mean()
        if first[left].all() and not first[like.index].any():
            longer_ms = table.loc[left, "step_ms"].to_numpy() - usual_ms
            waits_ms[left] = np.where(longer_ms > (_WAITS - 1) * usual_ms, longer_ms, 0.0)
    return waits_ms


def fetched_in(forest: Forest, start: Int64, end: Int64) -> Floats:
    """Return how long the fetches of batches from Python took in each of some spans that follow one another, in ms."""
    fetches = fetches_of(forest)
    order = np.argsort(start, kind="stable")
    span = order[np.searchsorted(start[order], forest.host.start_ps[fetches], side="right") - 1]
    begins, ends = forest.host.start_ps[fetches], forest.ends_ps(fetches)
    inside = (begins >= start[span]) & (ends <= end[span])
    spent_ps: Floats = np.bincount(span[inside], (ends - begins)[inside], len(start)) / PS_PER_MS
    return spent_ps


def factors(forest: Forest, table: pd.DataFrame, events: Int64) -> Factors | None:
    """Return by how much each of some events stands for others; None where all were recorded.

    ``table`` has the steps of the events' host.
    """
    if not stand_for_others(table).any():
        return None
    number, time = np.ones(len(events)), np.ones(len(events))
    start_ps = forest.host.start_ps[events]
    for left, like in _kinds(table):
        if like.empty:
            continue
        begin, length = ((like[name].to_numpy() * PS_PER_MS).astype(np.int64) for name in ("start_ms", "step_ms"))
        order = np.argsort(begin, kind="stable")
        within = Windows(begin[order], (begin + length)[order]).hold(start_ps, start_ps)
        number[within] += left.sum() / len(like)
        time[within] += float(table.loc[left, "step_ms"].sum() / like["step_ms"].sum())
    return Factors(number, time)


def timed_steps(measured: pd.DataFrame) -> pd.DataFrame:
    """Return the unrecorded ones of some steps, which no recording slowed, if there are enough; else all."""
    undisturbed = measured[~measured["ops_recorded"].astype(bool)]
    return undisturbed if len(undisturbed) >= _TIMED else measured


def slowdown(measured: pd.DataFrame) -> float:
    """Return how many times as long steps took while ops were recorded; NaN where too few tell."""
    recorded = measured[measured["ops_recorded"].astype(bool)]
    if not len(recorded) or len(measured) - len(recorded) < _TIMED:
        return float("nan")
    return float(recorded["step_ms"].median() / timed_steps(measured)["step_ms"].median())


def recorded_note(table: pd.DataFrame, measured: pd.DataFrame) -> str:
    """Say how many steps have their ops, and what recording them changed."""
    note = (
        f"Ops were recorded in {table['ops_recorded'].sum():,} of {len(table):,} steps. What the others spent their "
        "time on is estimated from these; %%tfprofile --all records all."
    )
    if (times := slowdown(measured)) >= _SLOWED:
        note += f" Recording made steps {times:.1f} times as long: averages are those of the other steps."
    return note
