from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import IN_TENSORFLOW, TRACING_MS, Case, Cases, Earlier, Evidence, Rule, in_code, quoted
from tfprof_nb.analysis.advice.findings import at_most
from tfprof_nb.analysis.advice.rules.python._time import CALLBACKS
from tfprof_nb.analysis.advice.rules.tracing._eager import (
    INTO_A_FUNCTION,
    MANY_OPS,
    OF_LAYERS,
    TRACED_MODEL,
    called_layer,
    decorated,
    eager_ops,
    split,
    traceable,
)
from tfprof_nb.analysis.source.calls import called_object
from tfprof_nb.analysis.source.code import Code, line_at, place_of
from tfprof_nb.analysis.source.traceable import (
    has_effects,
    line_makes_objects,
    loop_makes_objects,
    makes_objects,
    untraceable,
)

Function = tuple[str, str]  # its file and its name
Line = tuple[str, int]
_LINE = ["file", "line"]
_GOOD_PART = 0.1  # of the loop's time
_OF_STARTS, _OF_OPS = 0.5, 0.5
_TELL_THE_STEPS = ("eager-ops", "eager-line", "eager-loop", "grown-by-concatenation")

RULE = Rule(
    "eager-outside-steps",
    "A loop beside the steps runs eagerly",
    "Looks for loops before, between and after the steps, such as one that tests the model or generates text, whose "
    "ops run outside of any tf.function.",
    "Python dispatches each op, which takes longer than most small ops. In a tf.function they run as one graph.",
    action="Run each pass of the loop as a graph",
    explains=("op", "copy", IN_TENSORFLOW, "keras"),
    page="python",
    moderate=15.0,
    high=25.0,
    of="cell",
    without_tracing=True,
    saved=(0.5, None),
    after=_TELL_THE_STEPS,
    within=("frequent-writing", *CALLBACKS),
    part_of="eager-ops",
    once_ms=TRACING_MS,
    order="first",
    results="close",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    """Yield a case for each outermost loop; the loops of what it calls are part of it."""
    if not len(evidence.steps.table) or not evidence.steady_ms > 0:
        return
    code, rows = evidence.code, evidence.python.eager
    in_loop = np.array([code.in_loop(file, line) for file, line in zip(rows["file"], rows["line"], strict=True)], bool)
    inner = _called_from(rows, rows[in_loop])
    found = rows[in_loop & ~pd.Series([*zip(rows["file"], rows["function"], strict=True)], rows.index).isin(inner)]
    loops = [code.loop_line(file, line)[0] for file, line in zip(found["file"], found["line"], strict=True)]
    told = {line_at(finding.place) for finding in earlier["eager-loop"]}
    outside_only = any(earlier[name] for name in _TELL_THE_STEPS)
    for _, of_loop in found.assign(loop=loops).groupby(["file", "loop"], sort=False):
        calls = _calls_below(evidence, rows, of_loop)
        inner_loops = {(at, code.loop_line(at, line)[0]) for at, line in zip(calls["file"], calls["line"], strict=True)}
        if not told & inner_loops:
            yield from _case(evidence, rows, of_loop, calls, outside_only=outside_only)


def _called_from(rows: pd.DataFrame, lines: pd.DataFrame) -> set[Function]:
    """Return the functions that lines call, and what these call."""
    reached, new = set[Function](), {*zip(lines["called_file"], lines["called"], strict=True)} - {("", "")}
    while new:
        reached |= new
        calling = pd.Series([*zip(rows["file"], rows["function"], strict=True)], rows.index).isin(new)
        called = rows[calling & (rows["called"] != "")]
        new = {*zip(called["called_file"], called["called"], strict=True)} - reached
    return reached


def _callers(rows: pd.DataFrame, lines: pd.DataFrame) -> pd.DataFrame:
    """Return the lines that call the functions of some lines, and those that call these."""
    of_call = pd.MultiIndex.from_frame(rows[["called_file", "called"]])
    found, more = rows.iloc[:0], lines
    while len(
        more := rows[of_call.isin(pd.MultiIndex.from_frame(more[["file", "function"]]))].drop(
            found.index, errors="ignore"
        )
    ):
        found = pd.concat([found, more])
    return found


def _case(
    evidence: Evidence, rows: pd.DataFrame, of_loop: pd.DataFrame, calls: pd.DataFrame, *, outside_only: bool
) -> Iterator[Case]:
    """Tell what the costliest line of a loop calls, where that can be a graph; else the model that runs most ops."""
    code, ops = evidence.code, eager_ops(evidence)
    running, own = pd.MultiIndex.from_frame(ops[_LINE]), pd.MultiIndex.from_frame(of_loop[_LINE])
    # An op is known by the line of the cell that runs it, also where that calls the loop's function.
    lines = pd.MultiIndex.from_frame(pd.concat([of_loop, _callers(rows, of_loop)])[_LINE])
    many = ops.loc[running.isin(lines), "occurrences"].sum() >= MANY_OPS
    # Beside lines that run ops, others are Python in Keras, as in keras.backend.clear_session.
    if own.isin(running).any():
        of_loop = of_loop[own.isin(running) | (of_loop["called"] != "")]
        calls = _calls_below(evidence, rows, of_loop)
    file, line = _costliest(of_loop, *_LINE)
    called_file, function = _costliest(of_loop[of_loop["line"] == line], "called_file", "called")
    function = function.rpartition(".")[2]
    defined = code.definition(called_file, function) if function else 0
    model = called_layer(evidence, calls[(calls["file"] == file) & (calls["line"] == line)]) if not defined else ""
    if model:  # no other line of the loop becomes a graph
        of_loop, calls = (rows[(rows["file"] == file) & (rows["line"] == line)] for rows in (of_loop, calls))
    times = calls[["eager_ms", "outside_ms"]].min(axis=1) if outside_only else of_loop["eager_ms"]
    time_ms = float(times.sum())
    makes = makes_objects(code, called_file, defined) if defined else line_makes_objects(code, file, line)
    if not (many or model) or makes or calls.empty or not time_ms > 0:
        return
    body = INTO_A_FUNCTION if loop_makes_objects(code, file, line) else decorated(code, "", "")
    loop, change, fix = place_of(file, line), "", TRACED_MODEL.format(model) if model else body
    place = place_of(called_file, defined) if defined else loop
    what = f"{function} ({place})" if defined else loop
    if defined and traceable(evidence, called_file, function):
        change = f"@tf.function\n{code.line(called_file, defined)}"
        fix = decorated(code, function, change)
    elif defined:
        at, model = _layer_below(evidence, rows, calls, (file, line))
        needs = untraceable(code, called_file, defined)
        cannot = needs or has_effects(code, called_file, defined) or code.line(called_file, defined - 1).startswith("@")
        whole = split(function, needs) if cannot else decorated(code, function, "")
        others = _other_layers(code, rows, at, model, time_ms) if model else []
        likewise = f" Do the same for {' and '.join(map(quoted, others))}." if others else ""
        fix = TRACED_MODEL.format(model) + likewise if model else whole
        place = place_of(*at) if model else place
    # A graph saves what starts the ops, and up to half of what these take, as it joins some and runs others at once.
    starts = 1 - min(1.0, float(ops.loc[running.isin(lines), "op_ms"].sum()) / max(time_ms, 1e-9))
    percent = 100 * time_ms / evidence.steady_ms
    most = at_most(min(100.0, percent) * (starts + _OF_OPS * (1 - starts)))
    yield Case(
        percent,
        f"Ops run eagerly beside the steps: {what}",
        f"The loop around {in_code(loop, code.at(loop))} spends {_units.milliseconds(time_ms)} on ops that run outside "
        "any tf.function, where Python dispatches each one.",
        fix,
        place,
        change,
        saved=(_OF_STARTS * starts, most / percent),
        subject=function,
    )


def _costliest(rows: pd.DataFrame, first: str, second: str) -> tuple[Any, Any]:
    """Return the pair of values of two columns with most of the time."""
    times = rows.groupby([first, second])["eager_ms"].sum().sort_values(ascending=False, kind="stable")
    one, other = times.index[0]
    return one, other


def _layer_below(evidence: Evidence, rows: pd.DataFrame, calls: pd.DataFrame, at: Line) -> tuple[Line, str]:
    """Return the line, on the way down along what takes most, that calls a model or layer, and its name, if known."""
    code, seen = evidence.code, set[Line]()
    while at not in seen:
        seen.add(at)
        called = _costliest(rows[(rows["file"] == at[0]) & (rows["line"] == at[1])], "called_file", "called")
        if called[1].endswith(OF_LAYERS):
            return at, called_object(code, *at)
        inside = rows[(rows["file"] == called[0]) & (rows["function"] == called[1])]
        at = at if inside.empty else _costliest(inside, *_LINE)
    own = calls[(calls["file"] == at[0]) & (calls["line"] == at[1])]
    return at, called_layer(evidence, own) if len(own) else ""


def _other_layers(code: Code, rows: pd.DataFrame, at: Line, model: str, time_ms: float) -> list[str]:
    """Return the other models and layers that the function of a line calls for a good part of the time."""
    function = rows.loc[(rows["file"] == at[0]) & (rows["line"] == at[1]), "function"].iloc[0]
    own = rows[(rows["file"] == at[0]) & (rows["function"] == function)]
    own = own[own["called"].str.endswith(OF_LAYERS) & (own["eager_ms"] >= _GOOD_PART * time_ms)]
    names = dict.fromkeys(called_object(code, at[0], int(line)) for line in own["line"])
    return [name for name in names if name not in ("", model)]


def _calls_below(evidence: Evidence, rows: pd.DataFrame, lines: pd.DataFrame) -> pd.DataFrame:
    """Return the calls of Keras and TensorFlow that lines make, and the functions that they call."""
    calls, below = evidence.python.calls, _called_from(rows, lines)
    calls = calls[(calls["thread"] == "main") & (calls["eager_ms"] > 0)]
    own = pd.Series([*zip(calls["file"], calls["line"], strict=True)], calls.index, dtype=object)
    within = pd.Series([*zip(calls["file"], calls["function"], strict=True)], calls.index, dtype=object)
    return calls[own.isin({*zip(lines["file"], lines["line"], strict=True)}) | within.isin(below)]
