"""What to change about a tf.function that is traced again, instead of being run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, at_most
from tfprof_nb.analysis.functions.retracing import APPLIED_AGAIN, GENERALISE
from tfprof_nb.analysis.source.code import place_of

_EXPENSIVE_CALL_PERCENT, _HIGH_PERCENT = 20.0, 15.0
_MIN_TRACING_CALLS = 3
_LATE_TRACING_FACTOR, _WORTH_SAYING_SHARE = 3.0, 0.05
_LEAST_SAVED = 0.75  # of the time of calls that trace: what they do once they are traced remains
# Keras' own functions: a model of its own, or another phase, traces them again, and rightly so.
_OF_KERAS = ("one_step_on_data", "one_step_on_iterator", "multi_step_on_iterator", "one_step_on_data_distributed")
_FEWER_SHAPES = (
    "Give the batches few different shapes: pad them to some fixed lengths, and let .batch() drop the last smaller one "
    "(drop_remainder=True)."
)
_MOSTLY_TRACING, _LONG_TRACING_MS = 0.5, 3000.0
_GENERALISE = "Write @tf.function(reduce_retracing=True): one graph then serves all shapes."
_NEW_VALUE = re.compile(r"argument `(\w+)` was a new Python value")


def retracing_findings(evidence: Evidence) -> list[Finding]:
    """Name the functions that are traced again and again, and else steps that traced late."""
    again = list(_traced_again(evidence))
    return again or [*_late_tracing(evidence), *_mostly_tracing(evidence)]


def _traced_again(evidence: Evidence) -> Iterator[Finding]:
    """A first call must trace, and Keras traces again when it builds a model: only further tracing is a finding."""
    calls = evidence.functions.table
    traced = (
        calls[calls["mode"].str.startswith("traced")]
        .groupby("function")
        .agg(
            calls=("calls", "sum"),
            percent=("expensive_call_percent", "max"),
            self_ms=("self_ms", "sum"),
            cause=("cause", "first"),
        )
    )
    again = traced[(traced["calls"] >= _MIN_TRACING_CALLS) & (traced["percent"] >= _EXPENSIVE_CALL_PERCENT)]
    whole_ms = float(evidence.steps.table["step_ms"].sum()) or float(calls["self_ms"].sum())
    for name, function in again.iterrows():
        if name in _OF_KERAS and GENERALISE not in function["cause"]:
            continue
        percent = min(100.0, 100 * float(function["self_ms"]) / whole_ms)
        cause, colon, remedy = str(function["cause"]).rpartition(": ")
        fix, place, change = _remedy(evidence, str(name), str(function["cause"]), remedy if colon else "")
        yield Finding(
            "high" if percent >= _HIGH_PERCENT else "medium",
            f"{name} is traced again and again",
            f"{int(function['calls'])} calls of {name} traced it first, which took "
            f"{_units.milliseconds(float(function['self_ms']))} ({_units.percent(float(function['percent']))} of its "
            f"time){function['cause'] and ': '}{cause or remedy}.",
            fix,
            percent,
            proved_by="functions",
            place=place,
            gain_low_percent=_LEAST_SAVED * percent,
            gain_high_percent=percent,
            change=change,
        )


def _mostly_tracing(evidence: Evidence) -> Iterator[Finding]:
    """Report a cell that traces for longer than it computes, where that is long enough to matter."""
    summary = evidence.overview.summary
    tracing_ms, whole_ms = float(summary["warm_up_steps_ms"]), float(summary["capture_ms"])
    if not (tracing_ms >= _LONG_TRACING_MS and tracing_ms >= _MOSTLY_TRACING * whole_ms):
        return
    file, line = next(evidence.code.find(r"\bunroll *= *True"), ("", 0))
    begin, change = evidence.code.without_argument(file, line, "unroll")
    percent = 100 * tracing_ms / whole_ms
    asked = f": unroll=True ({place_of(file, line)})" if line else ""
    yield Finding(
        "high" if line else "info",
        f"Tracing takes {_units.percent(percent)} of the cell's time{asked}",
        f"{_units.milliseconds(tracing_ms)} of {_units.milliseconds(whole_ms)} is in warm-up steps, in which "
        "TensorFlow traces functions and builds their graphs.",
        "Remove unroll=True: the layer is then a loop in the graph, which is traced once and not for each time step."
        if line
        else "It happens once per function, so it matters less the longer the cell trains. What makes a large graph, "
        "such as a Python loop over time steps in a layer, makes it long.",
        percent if line else float("nan"),
        proved_by="steps",
        place=place_of(file, begin or line) if line else "",
        gain_low_percent=_LEAST_SAVED * percent if line else float("nan"),
        gain_high_percent=at_most(percent) if line else float("nan"),
        change=change,
    )


def _remedy(evidence: Evidence, name: str, cause: str, remedy: str) -> tuple[str, str, str]:
    """Return what to do, the place and the code to change."""
    if name in _OF_KERAS:
        return _FEWER_SHAPES, "", ""
    file, line = next(evidence.code.find(rf"def {re.escape(name)}\("), ("", 0))
    place = place_of(file, line) if line else ""
    if not cause or GENERALISE in cause:
        plain = evidence.code.line(file, line - 1) == "@tf.function"
        generalised = (place_of(file, line - 1), "@tf.function(reduce_retracing=True)")
        return (_GENERALISE, *(generalised if plain else (place, "")))
    value = _NEW_VALUE.search(cause)
    if APPLIED_AGAIN in cause:
        applied = next(evidence.code.find(rf"tf\.function\(\s*{re.escape(name)}\b"), None)
        fix = f"Apply tf.function once, before the loop, and call its result in the loop: `fast = tf.function({name})`."
        return fix, place_of(*applied) if applied else place, ""
    if not value:
        return f"{remedy[:1].upper()}{remedy[1:]}.", place, ""
    argument = value[1]
    called = next(evidence.code.find(rf"(?<!def )\b{re.escape(name)}\(.*\b{argument}\b"), None)
    if any(evidence.code.find(rf"\b(min|max|int|float|round|math\.\w+)\([^)]*\b{argument}\b")) or not called:
        return f"Pass a tensor for {argument}: `tf.constant({argument})`, or a tf.Variable that is assigned.", place, ""
    before, call, arguments = evidence.code.line(*called).partition(f"{name}(")
    change = f"{before}{call}" + re.sub(rf"\b{argument}\b(?! *=)", f"tf.constant({argument})", arguments)
    return f"Pass a tensor for {argument}: `{_units.shorten(change, 100)}`.", place_of(*called), change


def _late_tracing(evidence: Evidence) -> Iterator[Finding]:
    """Report a step in the middle of the run that traced, if the function traced too rarely for its own finding."""
    table = evidence.steps.table
    keys = [table["host"], table["phase"]]
    ran_before = (~table["warm_up"]).groupby(keys, sort=False).cummax()
    typical_ms = table["step_ms"].mask(table["warm_up"]).groupby(keys, sort=False).transform("median")
    # A training that begins anew, with an epoch before that of the last step, may well be that of another model.
    begins_anew = table["epoch"].astype("float64").groupby(keys, sort=False).diff() < 0
    late = ran_before & ~begins_anew & table["warm_up"] & (table["step_ms"] >= _LATE_TRACING_FACTOR * typical_ms)
    steps = table.assign(typical_ms=typical_ms, kind=table.groupby(keys, sort=False).ngroup())[late]
    steps = steps.sort_values("kind", kind="stable")
    if steps["step_ms"].sum() <= _WORTH_SAYING_SHARE * table["step_ms"].sum():
        return
    first, others = steps.iloc[0], len(steps) - 1
    yield Finding(
        "medium",
        "A function is traced again in the middle of the run",
        f"{first['step_name']}{f' and {others} more steps' if others else ''} traced or compiled: "
        f"{_units.milliseconds(float(first['step_ms']))}, compared to "
        f"{_units.milliseconds(float(first['typical_ms']))} for the median step.",
        "Usually the last batch of an epoch is smaller than the others: `.batch(n, drop_remainder=True)`. Otherwise "
        "an argument of the call differs from earlier calls, such as a Python number or a shape.",
        start_ms=float(first["start_ms"]),
        duration_ms=float(first["step_ms"]),
        proved_by="trace",
    )
