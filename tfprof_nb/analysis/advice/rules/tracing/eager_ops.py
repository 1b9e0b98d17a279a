"""Programs whose steps run op by op."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.rule import IN_TENSORFLOW, TRACING_MS, Case, Cases, Earlier, Rule
from tfprof_nb.analysis.advice.rules.tracing._eager import (
    FETCHING_OPS,
    MOSTLY_EAGER_PERCENT,
    OF_LAYERS,
    SAVED,
    TRACED_MODEL,
    cannot_be_graph,
    decorated,
    eager_percent,
    least_saved,
    may_be_graph,
    runs_eagerly,
    runs_functions,
    split,
)
from tfprof_nb.analysis.python import EAGER_IN, MAKES
from tfprof_nb.analysis.source.calls import called_model
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.loops import is_head
from tfprof_nb.analysis.source.rewriting import without_argument
from tfprof_nb.analysis.source.syntax import holds, name_of
from tfprof_nb.analysis.source.traceable import Untraceable, untraceable

_NOT_EAGERLY_IN_KERAS = "Remove run_eagerly=True from model.compile, and tf.config.run_functions_eagerly(True)."
_LOOPS = "Move the body of each loop into a function, and put @tf.function above it."
_NOT_EAGERLY = "Put @tf.function on the function that runs a step."
_INTO_ITS_OWN = "Put what this line computes into a function with @tf.function, and call that."
_ASKED_TO_RUN_EAGERLY = r"(run_eagerly *= *(?!False\b|None\b|=)\S|tf\.config\.run_functions_eagerly\((?!False\b)\S)"
_TRACED_BY_KERAS = ("train_step", "compute_loss", "compute_metrics", "call", "update_state")
_FIRST_WITH_TENSORS = (
    "Compute with TensorFlow's ops in {needing}: {needs} (tf.random, "
    "tf.gather, tf.argsort and Keras' metrics replace most of NumPy). Then remove {what}."
)

_GRADIENTS_OF_WEIGHTS, _UPDATES = r"^(?:Depthwise)?Conv\w*BackpropFilter", "Assign|ResourceApply|ResourceSparseApply"
_CHEAPEST = 0.1  # of all ops
_MUCH, _SOME = 0.4, 0.15  # of the time of eager ops: what a function is named for, and a loop
RULE = Rule(
    "eager-ops",
    "The steps run eagerly",
    "Looks for programs whose ops run eagerly in each step: without a tf.function, or with run_eagerly=True.",
    "Python dispatches each op, which takes longer than most small ops. In a tf.function they run as one graph.",
    action="Run the step as a graph",
    explains=("op", "copy", IN_TENSORFLOW, "keras", "optimizer"),
    page="ops",
    moderate=10.0,
    high=25.0,
    of="training",
    saved=(SAVED, None),
    once_ms=TRACING_MS,
    order="first",
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    """Report programs whose steps run op by op: one that runs eagerly once, before the steps, costs them nothing."""
    if not runs_eagerly(evidence) or runs_functions(evidence):
        return
    percent = eager_percent(evidence)
    by_keras = bool(evidence.steps.table["epoch"].notna().any())
    all_saved = saved_percent(evidence)
    asked = next(evidence.code.find(_ASKED_TO_RUN_EAGERLY), None)
    steps = [Step("", *_without_eagerly(evidence, *asked))] if asked else _step_functions(evidence)
    for step in steps:
        function, place, change = step.function, step.place, step.change
        needing, needs = (
            _needing_values(evidence, asked) if asked else (function, untraceable(evidence.code, *line_at(place)))
        )
        if needs or (not asked and not may_be_graph(evidence, function, place)):
            change = ""
        function = function.rpartition("<locals>.")[2]
        what, stepped = _asks(evidence, asked) if asked else function, len(evidence.steps.table) > 0
        saved, named = step.share * all_saved, f"{what} ({place})" if what and place else what or place
        yield Case(
            saved,
            f"Ops run eagerly{(what or place) and ': '}{' and '.join((named, *step.others))}",
            f"{_units.percent(percent)} of the host's op time is in eager ops{' of the steps' * stepped}: Python "
            f"dispatches each one. A graph saves the time between them{' here' * (step.share < 1)}, and ops whose "
            f"results nothing uses: {_units.percent(saved)} of the time.",
            _without(evidence, asked, needing, needs)
            if asked
            else _NOT_EAGERLY_IN_KERAS
            if by_keras
            else split(function, needs)
            if needs or (place and cannot_be_graph(evidence.code, *line_at(place)))
            else _LOOPS
            if step.others
            else _traced(evidence, function, place, change),
            place,
            change,
            saved=(least_saved(saved / 100 * _whole_ms(evidence)), None),
            severity="high" if percent >= MOSTLY_EAGER_PERCENT and saved >= RULE.high else "medium",
            of=None if stepped else "cell",
            subject=what,
        )


def saved_percent(evidence: Evidence) -> float:
    """Return the share of the time that a graph can save: what passes between eager ops, and ops that it leaves out.

    Between ops Python works, and none of them runs; what makes models is no part of it. Samples show too little of
    that, as they are taken when an op lets Python go: the ops' own time tells more. Without samples, it is all in which
    no op runs.
    """
    calls, steps = evidence.python.calls, evidence.steps.table
    calls = calls[(calls["thread"] == "main") & ~calls["call"].astype(str).str.contains(FETCHING_OPS)]
    own = calls[calls["library"].isin(EAGER_IN) & ~calls["call"].astype(str).str.contains(MAKES)]
    whole_ms = _whole_ms(evidence)
    ops_ms, needless_ms = _ops_ms(evidence)
    if calls.empty:
        between_ms = whole_ms - ops_ms
    elif len(steps):
        called_ms = float((own["in_steps_ms"] + own["between_steps_ms"] - own["waiting_ms"]).sum())
        sampled_ms = float(own["nothing_ms"].sum() + own["between_steps_ms"].sum())
        between_ms = max(sampled_ms, min(called_ms, whole_ms - evidence.sleeps().total_ms) - ops_ms)
    else:
        between_ms = float(own["self_ms"].sum()) - ops_ms
    return min(100.0, max(0.0, 100 * (between_ms + needless_ms) / whole_ms)) if whole_ms > 0 else 0.0


def _whole_ms(evidence: Evidence) -> float:
    """Return the time from the first step to the last, or that of the capture."""
    return training_ms(evidence) if len(evidence.steps.table) else float(evidence.overview.summary["capture_ms"])


def _ops_ms(evidence: Evidence) -> tuple[float, float]:
    """Return the time that eager ops compute in all steps, and that of gradients of weights that nothing updates.

    The cheapest ops compute next to nothing: what they take, each op takes to start. A graph leaves out what nothing
    uses. An eager tape computes the gradients of all weights of a convolution's kind,
    also of frozen ones: each that is used changes a variable.
    """
    ops = evidence.ops.table
    ops = ops[(ops["side"] == "host") & ops["eager"].astype(bool) & ~ops["op_type"].str.contains(FETCHING_OPS)]
    cheapest = ops.assign(each_us=ops["self_us"] / ops["occurrences"]).sort_values("each_us")
    reached = cheapest["occurrences"].cumsum() >= _CHEAPEST * cheapest["occurrences"].sum()
    start_us = float(cheapest.loc[reached, "each_us"].iloc[0]) if len(ops) else 0.0
    times_ms = (ops["self_us"] - start_us * ops["occurrences"]).clip(lower=0.0) / _units.US_PER_MS
    of_weights, updates = (ops["op_type"].str.contains(kinds) for kinds in (_GRADIENTS_OF_WEIGHTS, _UPDATES))
    computed, used = (float(ops.loc[which, "occurrences"].sum()) for which in (of_weights, updates))
    needless = max(0.0, 1 - used / computed) if computed else 0.0
    return float(times_ms.sum()), needless * float(times_ms[of_weights].sum())


def _traced(evidence: Evidence, function: str, place: str, change: str) -> str:
    """Say what to put into a tf.function: a function, a model that a line calls, the body of its loop, or the line."""
    if function or not place:
        return decorated(evidence.code, function, change) if place else _NOT_EAGERLY
    if model := called_model(evidence.code, *line_at(place)):
        return TRACED_MODEL.format(model)
    file, line = line_at(place)
    in_loop = is_head(evidence.code, file, line) or evidence.code.in_loop(file, line)
    return decorated(evidence.code, "", "") if in_loop else _INTO_ITS_OWN


def _without_eagerly(evidence: Evidence, file: str, line: int) -> tuple[str, str]:
    """Return the place that asks for eager execution, and the code without that."""
    if evidence.code.line(file, line).startswith("tf.config."):
        return place_of(file, line), "tf.config.run_functions_eagerly(False)"
    begin, change = without_argument(evidence.code, file, line, "run_eagerly")
    return place_of(file, begin or line), change


class Step(NamedTuple):
    """A function that runs eager ops, its place, the code that decorates it, and its ``share`` of these ops' time.

    Without a function, the place is that of a loop, and ``others`` are those of more loops.
    """

    function: str
    place: str
    change: str
    share: float = 1.0
    others: tuple[str, ...] = ()


def _step_functions(evidence: Evidence) -> list[Step]:
    """Return the user's functions that run much of the ops, the first the one that runs most.

    Of functions that call one another it is the innermost with that time, and not what Keras calls: a layer that makes
    its variables in a graph of its own gets no gradients. Without one, the places are the loops around the lines that
    spend most time in TensorFlow.
    """
    calls, rows = evidence.python.calls, evidence.python.eager
    calls = calls[(calls["thread"] == "main") & (calls["line"] > 0)]
    if calls.empty:
        return [Step("", "", "")]
    whole_ms = float(calls["eager_ms"].sum())
    own = rows[(rows["function"] != "<module>") & ~rows["function"].str.endswith(OF_LAYERS)]
    totals = own.groupby(["function", "file"], sort=False)["eager_ms"].sum()
    large = totals[(totals >= _MUCH * whole_ms) & (totals > 0)]
    called = pd.MultiIndex.from_frame(rows[["called", "called_file"]])
    itself = (rows["called"] == rows["function"]) & (rows["called_file"] == rows["file"])
    outer = rows[called.isin(large.index) & ~itself]
    large = large.drop(pd.MultiIndex.from_frame(outer[["function", "file"]]), errors="ignore")
    large = large.sort_values(ascending=False, kind="stable")
    if large.empty:
        running = calls[calls["library"].isin(EAGER_IN)] if calls["library"].isin(EAGER_IN).any() else calls
        lines = zip(running["file"].tolist(), running["line"].tolist(), strict=True)
        places = [_of_loop(evidence, str(file), int(line)) for file, line in lines]
        times = running["eager_ms"].groupby(places, sort=False).sum().sort_values(ascending=False, kind="stable")
        first, *others = (str(place) for place in times.index[times >= _SOME * times.sum()])
        return [Step("", first, "", others=tuple(others))]
    alone = len(large) == 1 and large.iloc[0] >= MOSTLY_EAGER_PERCENT / 100 * whole_ms
    return [
        _step(evidence, str(name), str(file), 1.0 if alone else time_ms / whole_ms)
        for (name, file), time_ms in zip(large.index.tolist(), large.tolist(), strict=True)
    ]


def _of_loop(evidence: Evidence, file: str, line: int) -> str:
    """Return the place of the loop around a line; its own without one, or where it calls a model that can be traced."""
    loop, _ = evidence.code.loop_line(file, line)
    return place_of(file, line if called_model(evidence.code, file, line) or not loop else loop)


def _step(evidence: Evidence, name: str, file: str, share: float) -> Step:
    line = evidence.code.definition(file, name)
    place = place_of(file, line) if line else ""
    return Step(name, place, f"@tf.function\n{evidence.code.line(file, line)}" if line else "", share)


def _without(evidence: Evidence, asked: tuple[str, int], needing: str, needs: Untraceable | None) -> str:
    """Say which request for eager execution to remove, and what in the program must change before."""
    given = re.search(r"run_eagerly *= *[\w.]+", evidence.code.line(*asked))
    what = given[0].replace(" ", "") if given and _asks(evidence, asked) == "run_eagerly" else "the line"
    if needs:
        return _FIRST_WITH_TENSORS.format(needing=needing, needs=needs, what=what)
    return f"Remove {what}: it is for debugging."


def _needing_values(evidence: Evidence, asked: tuple[str, int]) -> tuple[str, Untraceable | None]:
    """Return what Keras would trace but cannot, a method or a function with its place, and the code that forbids it."""
    table, code = evidence.python.table, evidence.code
    ran = {name.rpartition(".")[2] for name in table.loc[table["in_steps_ms"] > 0, "function"]}
    for file, line in code.find(rf"def (?:{'|'.join(_TRACED_BY_KERAS)})\(self\b"):
        name = code.line(file, line).removeprefix("def ").partition("(")[0]
        needs = untraceable(code, file, line) if name in ran or table.empty else None
        if needs:
            return f"{code.class_at(file, line)}.{name} ({place_of(file, line)})", needs
    for file, function in _given_to_compile(evidence, asked):
        if needs := untraceable(code, file, function.lineno):
            return f"{function.name} ({place_of(file, function.lineno)})", needs
    return "", None


def _given_to_compile(evidence: Evidence, asked: tuple[str, int]) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Return the functions of the program, such as losses and metrics, that ``compile`` is given with the request.

    If the request stands elsewhere, it is for all models.
    """
    files = [(file, call) for file in evidence.code.files for call in evidence.code.nodes(file, ast.Call)]
    compiling = [(file, call) for file, call in files if name_of(call.func) == "compile"]
    with_request = [(file, call) for file, call in compiling if file == asked[0] and holds(call, asked[1])]
    for file, call in with_request or compiling:
        names = (node for node in ast.walk(call) if isinstance(node, ast.Name))
        yield from filter(None, (evidence.code.defined(file, name) for name in names))


def _asks(evidence: Evidence, asked: tuple[str, int]) -> str:
    """Name what asks for eager execution."""
    return "run_functions_eagerly" if "run_functions_eagerly" in evidence.code.line(*asked) else "run_eagerly"
