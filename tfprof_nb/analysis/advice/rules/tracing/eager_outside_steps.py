from collections.abc import Mapping
from typing import Any

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import IN_TENSORFLOW, TRACING_MS, Case, Cases, Earlier, Evidence, Rule, in_code
from tfprof_nb.analysis.advice.rules.tracing._eager import EAGER_IN, TRACED_MODEL, decorated, split
from tfprof_nb.analysis.advice.rules.tracing._eager_lines import (
    MANY_OPS,
    RUNS_GRAPHS,
    called_layer,
    eager_ops,
    traceable,
)
from tfprof_nb.analysis.source.code import Code, line_at, place_of
from tfprof_nb.analysis.source.traceable import uses_values

# By file and line: the function that runs there, and the place that calls it.
Frames = Mapping[tuple[str, int], tuple[str, str]]

RULE = Rule(
    "eager-outside-steps",
    "A loop outside the steps runs its ops one by one",
    "Looks for loops before and after the steps, such as one that generates text, whose ops run outside of any "
    "tf.function.",
    "Python starts each op, which takes longer than most small ops. In a tf.function they run as one graph.",
    action="Run each pass of the loop as a graph",
    explains=("op", "copy", IN_TENSORFLOW, "keras"),
    page="python",
    moderate=15.0,
    high=25.0,
    of="cell",
    saved=(0.5, None),
    part_of="eager-ops",
    once_ms=TRACING_MS,
    order="first",
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    calls = _calls(evidence)
    if calls.empty or not len(evidence.steps.table) or not evidence.steady_ms > 0:
        return
    ops = eager_ops(evidence).groupby(["file", "line"])["occurrences"].sum()
    for (file, line), rows in calls.groupby(["loop_file", "loop_line"], sort=False):
        if ops.get((file, line), 0) >= MANY_OPS:
            yield _case(evidence, place_of(str(file), int(str(line))), rows)


def _case(evidence: Evidence, loop: str, calls: pd.DataFrame) -> Case:
    """Tell what a line in a loop calls, where that can be a graph; else the model that runs most of its ops."""
    code, time_ms = evidence.code, float(calls["eager_ms"].sum())
    file, function = map(str, _costliest(calls, "of_file", "of_function"))
    defined = code.definition(file, function) if function else 0
    place, change, fix = place_of(file, defined) if defined else loop, "", decorated("", "")
    what = f"{function} ({place})" if defined else loop
    if defined and traceable(evidence, file, function):
        change = f"@tf.function\n{code.line(file, defined)}"
        fix = decorated(function, change)
    elif defined:
        at = _costliest(calls, "file", "line")
        model = called_layer(evidence, calls[(calls["file"] == at[0]) & (calls["line"] == at[1])])
        fix = TRACED_MODEL.format(model) if model else split(function, uses_values(code, file, defined))
        place = place_of(str(at[0]), int(at[1])) if model else place
    return Case(
        100 * time_ms / evidence.steady_ms,
        f"Ops run one by one outside the steps: {what}",
        f"The loop around {in_code(loop, code.at(loop))} spends {_units.milliseconds(time_ms)} on ops that run outside "
        "any tf.function, where Python starts each.",
        fix,
        place,
        change,
        subject=function,
    )


def _costliest(calls: pd.DataFrame, *names: str) -> tuple[Any, Any]:
    """Return the pair of values of two columns with most of the time."""
    times = calls.groupby([*names])["eager_ms"].sum().sort_values(ascending=False, kind="stable")
    first, second = times.index[0]
    return first, second


def _calls(evidence: Evidence) -> pd.DataFrame:
    """Return the calls of Keras and TensorFlow in loops outside of the steps, ``eager_ms`` long.

    ``loop_file`` and ``loop_line`` are the line in the outermost of these loops, ``of_file`` and ``of_function`` what
    that line calls.
    """
    table, calls = evidence.python.table, evidence.python.calls
    own = zip(table["file"], table["line"], table["function"], table["called_from"], strict=True)
    frames = {(str(file), int(line)): (str(function), str(caller)) for file, line, function, caller in own}
    calls = calls[(calls["thread"] == "main") & calls["library"].isin(EAGER_IN) & (calls["outside_ms"] > 0)]
    calls = calls[~calls["call"].astype(str).str.contains(RUNS_GRAPHS)].rename(columns={"outside_ms": "eager_ms"})
    lines = zip(calls["file"], calls["line"], strict=True)
    loops = [_loop_around(evidence.code, frames, (str(file), int(line))) for file, line in lines]
    columns = ["loop_file", "loop_line", "of_file", "of_function"]
    calls = calls.join(pd.DataFrame(loops, calls.index, columns))
    return calls[calls["loop_line"] > 0]


def _loop_around(code: Code, frames: Frames, at: tuple[str, int]) -> tuple[str, int, str, str]:
    """Return the line in the outermost loop from which a line is called, and the file and name of what that calls."""
    around, below, passed = ("", 0, "", ""), ("", ""), set[tuple[str, int]]()
    while at[1] and at not in passed:
        passed.add(at)
        if code.in_loop(*at):
            around = (*at, *below)
        function, caller = frames.get(at, ("", ""))
        below, at = (at[0], function.rpartition(".")[2]), line_at(caller)
    return around
