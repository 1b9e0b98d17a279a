"""A loop whose body runs eagerly, such as a validation beside traced steps."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.findings import at_most, in_code
from tfprof_nb.analysis.advice.rule import IN_TENSORFLOW, Case, Cases, Earlier, Rule
from tfprof_nb.analysis.advice.rules.tracing._eager import (
    costliest_line,
    eager_ops,
    least_saved,
    runs_eagerly,
    runs_functions,
)
from tfprof_nb.analysis.source.code import line_at, place_of

_STARTS_SAVED = 0.5  # of the time that Python takes to start the ops, at least
_TELLS_MORE = 1.2  # than a single line of it
_LIBRARIES = ("Keras", "TensorFlow")
_FETCHES = "Iterator"
_NAMED_LINES = 2
Place = tuple[str, int]

RULE = Rule(
    "eager-loop",
    "A loop runs eagerly beside tf.functions",
    "Looks for loops that run no graph, such as a validation, and whose ops take long to start.",
    "Python dispatches each op, which takes longer than most small ops. In a tf.function they run as one graph.",
    action="Run the loop's tensors in a tf.function",
    explains=("op", "copy", IN_TENSORFLOW, "keras", "optimizer"),
    page="python",
    moderate=15.0,
    high=25.0,
    of="training",
    saved=(0.5, None),
    within=("frequent-writing",),
    part_of="eager-ops",
    order="first",
)


class Loop(NamedTuple):
    """A loop, its lines with their ``time_ms``, that of all, and the part in which Python starts the ops."""

    file: str
    line: int
    lines: pd.DataFrame
    time_ms: float
    starts_ms: float


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    """Name the loops, if they take more than any line that runs eagerly."""
    if not runs_eagerly(evidence) or not runs_functions(evidence):
        return
    loops = sorted(_loops(evidence), key=lambda loop: loop.time_ms, reverse=True)
    line, whole_ms = costliest_line(evidence) if loops else None, training_ms(evidence)
    percent = min(100.0, 100 * sum(loop.time_ms for loop in loops) / max(whole_ms, 1e-9))
    if loops and (line is None or percent > _TELLS_MORE * line.percent):
        yield _case(evidence, loops, percent)


def _loops(evidence: Evidence) -> Iterator[Loop]:
    """Return the loops that run eagerly, without a graph, where starting these takes much of the time."""
    calls, ops_ms, whole_ms = evidence.python.calls, _eager_ops_ms(evidence), training_ms(evidence)
    calls = calls[(calls["thread"] == "main") & (calls["line"] > 0) & calls["library"].isin(_LIBRARIES)]
    calls = calls[~calls["call"].astype(str).str.contains(_FETCHES)]
    calls = calls.assign(
        loop=[evidence.code.loop_line(file, line)[0] for file, line in zip(calls["file"], calls["line"], strict=True)],
        time_ms=calls["in_steps_ms"] + calls["between_steps_ms"],
    )
    for (file, loop), rows in calls[calls["loop"] > 0].groupby(["file", "loop"], sort=False):
        lines = rows.groupby("line")[["time_ms", "self_ms"]].sum().sort_values("time_ms", ascending=False)
        of_ops = {place for line in lines.index if (place := _recorded_at(evidence, ops_ms, str(file), int(line)))}
        if rows["graphs_ms"].any() or not of_ops or whole_ms <= 0:
            continue
        time_ms = float(lines["time_ms"].sum())
        within = time_ms / float(lines["self_ms"].sum() or 1)  # of what ran at these lines, from the first step on
        starts_ms = time_ms - within * sum(ops_ms[place] for place in of_ops)
        if 100 * starts_ms >= RULE.moderate * whole_ms:
            yield Loop(str(file), int(str(loop)), lines, time_ms, starts_ms)


def _case(evidence: Evidence, loops: Sequence[Loop], percent: float) -> Case:
    places = [place_of(loop.file, loop.line) for loop in loops]
    times = {(one.file, int(str(line))): ms for one in loops for line, ms in one.lines["time_ms"].items()}
    slowest = sorted(times, key=lambda at: times[at], reverse=True)[:_NAMED_LINES]
    named = " and ".join(in_code(place_of(*at), evidence.code.line(*at)) for at in sorted(slowest))
    starts_ms = sum(loop.starts_ms for loop in loops)
    starts = starts_ms / sum(loop.time_ms for loop in loops)
    several = f"loops at {', '.join(places[:-1])} and {places[-1]}" if len(places) > 1 else f"loop at {places[0]}"
    takes = f"The loops take {evidence.of_training(percent)}, most in {named}" if len(loops) > 1 else ""
    take = f"{named} {'take' if len(slowest) > 1 else 'takes'} {evidence.of_training(percent)}"
    their = "their" if len(slowest) > 1 or takes else "its"
    return Case(
        percent,
        saved=(least_saved(starts_ms, _STARTS_SAVED) * starts, at_most(percent * starts) / percent),
        finding=f"Ops run eagerly: the {several}",
        evidence=f"{takes or take}: {their} ops run outside any tf.function, where Python dispatches each one.",
        fix=f"Put what {'each' if takes else 'the'} loop computes with tensors into a function with @tf.function, and "
        "call that in the loop.",
        place=places[0],
    )


def _eager_ops_ms(evidence: Evidence) -> dict[Place, float]:
    """Return the time of the ops that are no part of a model's graph, by file and line."""
    sums = eager_ops(evidence).groupby(["file", "line"], as_index=False)["op_ms"].sum()
    rows = zip(sums["file"], sums["line"], sums["op_ms"], strict=True)
    return {(str(file), int(line)): float(time_ms) for file, line, time_ms in rows}


def _recorded_at(evidence: Evidence, ops_ms: dict[Place, float], file: str, line: int) -> Place | None:
    """Return where the ops of a line are counted: there, or at the line of the cell that calls its function."""
    table = evidence.python.table
    callers = table.loc[(table["file"] == file) & (table["line"] == line), "called_from"].astype(str)
    places = [(file, line), *(line_at(caller) for caller in callers)]
    return next((place for place in places if place in ops_ms), None)
