"""What to change about a tf.function that is traced again, instead of being run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.findings import Finding, at_most, saving
from tfprof_nb.analysis.advice.retracing_remedies import is_programs, remedy, shown_name
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.functions.retracing import APPLIED_AGAIN, GENERALISE, OF_KERAS
from tfprof_nb.analysis.source.calls import built_in_loop, compiled_in_loop
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.rewriting import without_argument
from tfprof_nb.analysis.step_ops.unrolled import UnrolledLoop, unrolled_loop

_EXPENSIVE_CALL_PERCENT = 20.0
_MIN_TRACING_CALLS = 3
_LATE_TRACING_FACTOR, _WORTH_SAYING_SHARE, _LATE_MEDIUM_SHARE = 3.0, 0.05, 0.1
_LEAST_SAVED = 0.75  # of the time of calls that trace: what they do once they are traced remains
_MOSTLY_TRACING, _LONG_TRACING_MS, _LONG_UNROLLING_MS = 0.5, 3000.0, 1000.0
_LEAST_UNROLLED = 0.5  # of tracing: the model is traced without unrolling too

_LAST_BATCH = (
    "If the last batch of an epoch of training is smaller than the others, leave it out; a dataset does with "
    "`.batch(n, drop_remainder=True)`."
)
_LAST_BATCH_OR_ELSE = (
    f"{_LAST_BATCH} Otherwise an argument of the call differs from earlier calls, such as a Python number or a shape."
)

RETRACING = Rule(
    "retracing",
    "A tf.function is traced again and again",
    "Looks for functions three and more of whose calls trace, where these take a fifth of the function's time.",
    "To trace runs the function's Python and builds a graph of it, which takes much longer than to run the graph.",
    group="tracing",
    page="functions",
    high=15.0,
    saved=(0.75, 1.0),
    results="equal",
)
BY_SHAPE = replace(
    RETRACING,
    id="retracing-by-shape",
    title="A tf.function is traced anew for each shape",
    why="A graph is made for tensors of one shape, unless reduce_retracing=True, or an input signature, leaves a "
    "dimension open.",
    part_of="retracing",
)
BY_VALUE = replace(
    RETRACING,
    id="retracing-by-value",
    title="A tf.function is traced anew for each Python number",
    why="A Python value is a constant of the graph, so each new value needs a new graph. A tensor is an input.",
    part_of="retracing",
)
BY_OBJECT = replace(
    RETRACING,
    id="retracing-by-object",
    title="A tf.function is traced anew for each object",
    why="An object of Python, such as a lambda, is a constant of the graph: each new one needs a new graph.",
    part_of="retracing",
)
DEFINED_AGAIN = replace(
    RETRACING,
    id="function-defined-in-loop",
    title="A tf.function is defined anew for each call",
    why="Each definition is a new function, with no graph yet.",
    part_of="retracing",
)
COMPILED_IN_LOOP = Rule(
    "compile-in-loop",
    "compile in a loop makes Keras trace the model anew",
    "Looks for `model.compile` in a loop over trainings of one model.",
    "It forgets the functions that were traced, so each training traces them again.",
    group="tracing",
    page="functions",
    high=15.0,
    of="cell",
    saved=(0.75, None),
)
BUILT_IN_LOOP = Rule(
    "model-built-in-loop",
    "Each training makes the same model anew",
    "Looks for loops that make a model for each training, where tracing them takes most of the cell's time.",
    "Keras traces the functions of each model. One model whose weights are set back is traced once. To make a model "
    "for each training is common, so this is of low severity.",
    group="tracing",
    page="functions",
    moderate=40.0,
    high=75.0,
    of="cell",
    saved=(0.75, None),
)
XLA_PROGRAMS = Rule(
    "xla-recompilation",
    "XLA compiles many programs",
    "Looks for three and more programs that XLA compiles in the cell.",
    "XLA compiles a function anew for each shape that it is given: batches that are padded to different lengths, and "
    "smaller last batches.",
    group="tracing",
    page="trace",
    moderate=20.0,
    high=40.0,
    of="cell",
    saved=(0.75, 1.0),
    results="close",
)
LONG_TRACING = Rule(
    "long-tracing",
    "The cell traces for longer than it computes",
    "Looks for cells that spend half of their time, and three seconds and more, in steps that trace.",
    "It happens once per function, so it matters less the longer the cell trains.",
    group="tracing",
    of="cell",
)
UNROLLED_LAYER = Rule(
    "unrolled-layer",
    "A recurrent layer is unrolled",
    "Looks for `unroll=True` in cells that trace for longer than they compute.",
    "Each time step is then traced, and becomes a part of the graph, of its own.",
    group="tracing",
    of="cell",
    saved=(0.5, None),
    results="close",
)
UNROLLED_LOOP = Rule(
    "unrolled-loop",
    "A Python loop in a tf.function is unrolled",
    "Looks for loops of Python that make most of a graph, in cells that trace for longer than they compute.",
    "The loop's body is traced anew in each pass. A loop in the graph (`tf.range`, keras.layers.RNN) is traced once.",
    group="tracing",
    of="cell",
    saved=(0.5, None),
)
LATE = Rule(
    "late-retracing",
    "A function is traced again in the middle of the run",
    "Looks for single steps after the warm-up that trace, and take three times as long as the median step and more.",
    "An argument differs from earlier calls: mostly the last batch of an epoch is smaller.",
    group="tracing",
    page="trace",
)


def retracing_findings(evidence: Evidence) -> list[Finding]:
    """Name the functions that are traced again and again, and else steps that traced late."""
    if by_xla := list(_compiled_by_xla(evidence)):
        return by_xla
    again = list(_traced_again(evidence)) or list(_compiled_again(evidence)) or list(_built_again(evidence))
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
        if name in OF_KERAS and GENERALISE not in function["cause"]:
            continue
        if not is_programs(evidence.code, str(name)):  # a library's, which nobody can decorate
            continue
        percent = min(100.0, 100 * float(function["self_ms"]) / whole_ms)
        cause, colon, advised = str(function["cause"]).rpartition(": ")
        fix, place, change = remedy(evidence.code, str(name), str(function["cause"]), advised if colon else "")
        shown = shown_name(evidence.code, str(name))
        called = shown.replace("The lambda", "the lambda")
        yield Finding(
            "high" if percent >= RETRACING.high else "medium",
            f"{shown} is traced again and again",
            f"{int(function['calls'])} calls of {called} traced it first, which took "
            f"{_units.milliseconds(float(function['self_ms']))} ({_units.percent(float(function['percent']))} of its "
            f"time){function['cause'] and ': '}{cause or advised}.",
            fix,
            percent,
            proved_by="functions",
            place=place,
            gain_low_percent=_LEAST_SAVED * percent,
            gain_high_percent=percent,
            change=change,
            rule=_rule_of(str(function["cause"])).id,
            # Python that makes the ops of a graph is no eager Python.
            instead_of=(("eager-ops", ""),) if percent >= 100 * _MOSTLY_TRACING else (),
        )


def _rule_of(cause: str) -> Rule:
    """Return the rule that says why a function is traced again."""
    rules = {
        GENERALISE: BY_SHAPE,
        APPLIED_AGAIN: DEFINED_AGAIN,
        "new Python value": BY_VALUE,
        "different object": BY_OBJECT,
    }
    return next((rule for sign, rule in rules.items() if sign in cause), RETRACING)


def _compiled_again(evidence: Evidence) -> Iterator[Finding]:
    """Report `compile` in a loop over trainings of one model: Keras then traces its functions anew for each."""
    times, tracing_ms = _new_functions(evidence)
    whole_ms = float(evidence.overview.summary["capture_ms"])
    found = compiled_in_loop(evidence.code) if times else None
    if not found or not tracing_ms > _WORTH_SAYING_SHARE * whole_ms > 0:
        return
    place, code = place_of(*found), evidence.code.line(*found)
    percent = 100 * tracing_ms / whole_ms * (times - 1) / times
    yield saving(
        COMPILED_IN_LOOP,
        percent,
        finding=f"compile in a loop makes Keras trace the model anew ({place})",
        evidence=f"`{_units.shorten(code, 80)}` forgets the functions that were traced. They were traced "
        f"{_units.count(times)} times, which took {_units.milliseconds(tracing_ms)} of "
        f"{_units.milliseconds(whole_ms)}.",
        fix="Compile once, before the loop. What changes between the trainings can be set: "
        "`model.optimizer.learning_rate.assign(rate)`, or a callback such as keras.callbacks.LearningRateScheduler.",
        place=place,
    )


def _built_again(evidence: Evidence) -> Iterator[Finding]:
    """Report a loop that makes the same model anew for each training, where tracing them takes most of the time."""
    times = _new_functions(evidence)[0] // max(evidence.steps.table["phase"].nunique(), 1)
    summary = evidence.overview.summary
    tracing_ms, whole_ms = float(summary["warm_up_steps_ms"]), float(summary["capture_ms"])
    percent = 100 * tracing_ms / whole_ms * (times - 1) / times if times and whole_ms > 0 else 0.0
    found = built_in_loop(evidence.code) if percent >= BUILT_IN_LOOP.moderate else None
    if found is None:
        return
    model, kept = found.model, f"(*{found.model}.variables, *{found.model}.optimizer.variables)"
    place = place_of(found.file, found.line)
    rate = f", and then `{model}.optimizer.learning_rate.assign({found.rate})`" if found.rate else ""
    differing = f", though only its learning rate `{found.rate}` differs" if found.rate else ""
    yield Finding(
        "medium" if percent >= BUILT_IN_LOOP.high else "info",
        f"{_units.count(times)} models are traced, each anew: {_units.percent(percent)} of the cell's time ({place})",
        f"`{_units.shorten(evidence.code.at(place), 80)}` makes a new model for each training{differing}, and Keras "
        f"traces the functions of each. {_units.milliseconds(tracing_ms)} of {_units.milliseconds(whole_ms)} is in the "
        "steps that trace.",
        f"Make and compile {model} once, before the loop. Then keep its values: "
        f"`{model}.optimizer.build({model}.trainable_variables)` and `start = [v.numpy() for v in {kept}]`. Begin each "
        f"training with `for v, value in zip({kept}, start): v.assign(value)`{rate}.",
        percent,
        proved_by="functions",
        place=place,
        gain_low_percent=_LEAST_SAVED * percent,
        gain_high_percent=at_most(percent),
        gain_of="cell",
        rule=BUILT_IN_LOOP.id,
    )


def _compiled_by_xla(evidence: Evidence) -> Iterator[Finding]:
    """Report programs that XLA compiles, if that takes much of the cell's time: one for each new shape."""
    found, whole_ms = evidence.compilations(), float(evidence.overview.summary["capture_ms"])
    percent = min(100.0, 100 * found.total_ms / whole_ms) if whole_ms > 0 else 0.0
    if found.programs < _MIN_TRACING_CALLS or percent < XLA_PROGRAMS.moderate:
        return
    asked = list(evidence.code.find(r"\bjit_compile *= *True"))
    begin, change = without_argument(evidence.code, *asked[0], "jit_compile") if len(asked) == 1 else (0, "")
    place = place_of(asked[0][0], begin or asked[0][1]) if asked else ""
    without = f"leave out jit_compile=True{f': `{_units.shorten(change, 100)}`' if change else ''}"
    yield saving(
        XLA_PROGRAMS,
        percent,
        finding=f"XLA compiles {_units.count(found.programs)} programs: {_units.percent(percent)} of the cell's time"
        f"{place and f' ({place})'}",
        evidence=f"That took {_units.milliseconds(found.total_ms)}. XLA compiles a function anew for each shape that "
        "it is given, such as batches of sequences that are padded to different lengths, and smaller last batches.",
        fix=f"{without[:1].upper()}{without[1:]}. Or give the batches one shape: pad to one length, and in training "
        "drop the smaller last batch (drop_remainder=True).",
        place=place,
        change=change,
    )


def _new_functions(evidence: Evidence) -> tuple[int, float]:
    """Return how many functions of one name Keras made and traced, and in which time; 0 if no more than phases need."""
    calls = evidence.functions.table
    traced = calls[calls["mode"].str.startswith("traced") & calls["function"].isin(OF_KERAS) & (calls["tracings"] == 1)]
    phases = evidence.steps.table["phase"].nunique()
    if traced.empty or traced["calls"].max() <= phases:
        return 0, 0.0
    most = traced.nlargest(1, "calls").iloc[0]
    return int(most["calls"]), float(traced["total_ms"].max())


def _mostly_tracing(evidence: Evidence) -> Iterator[Finding]:
    """Report a cell that traces for longer than it computes, where that is long enough to matter."""
    summary = evidence.overview.summary
    tracing_ms, whole_ms = float(summary["warm_up_steps_ms"]), float(summary["capture_ms"])
    if not (tracing_ms >= _LONG_UNROLLING_MS and tracing_ms >= _MOSTLY_TRACING * whole_ms):
        return
    places = list(evidence.code.find(r"\bunroll *= *True"))
    if not places and (loop := unrolled_loop(evidence.step_ops(), evidence.code)):
        yield _unrolled(loop, tracing_ms, whole_ms)
        return
    if not places and tracing_ms < _LONG_TRACING_MS:
        return
    begin, change = without_argument(evidence.code, *places[0], "unroll") if len(places) == 1 else (0, "")
    percent = 100 * tracing_ms / whole_ms
    named = " and ".join(place_of(*place) for place in places)
    yield Finding(
        "high" if places else "info",
        f"Tracing takes {_units.percent(percent)} of the cell's time{f': unroll=True ({named})' if places else ''}",
        f"{_units.milliseconds(tracing_ms)} of {_units.milliseconds(whole_ms)} is in warm-up steps, in which "
        "TensorFlow traces functions and builds their graphs.",
        "Remove unroll=True: the layer is then a loop in the graph, which is traced once and not for each time step."
        if places
        else "It happens once per function, so it matters less the longer the cell trains.",
        percent if places else float("nan"),
        proved_by="steps",
        place=place_of(places[0][0], begin or places[0][1]) if places else "",
        gain_low_percent=_LEAST_UNROLLED * percent if places else float("nan"),
        gain_high_percent=at_most(percent) if places else float("nan"),
        change=change,
        gain_of="cell",
        rule=UNROLLED_LAYER.id if places else LONG_TRACING.id,
    )


def _unrolled(loop: UnrolledLoop, tracing_ms: float, whole_ms: float) -> Finding:
    """Report a Python loop in a function that makes most of its graph."""
    percent, place = 100 * tracing_ms / whole_ms, place_of(loop.file, loop.line)
    return Finding(
        "high",
        f"Tracing takes {_units.percent(percent)} of the cell's time: a Python loop is unrolled ({place})",
        f"{_units.milliseconds(tracing_ms)} of {_units.milliseconds(whole_ms)} is in warm-up steps, in which "
        f"TensorFlow traces functions. `{_units.shorten(loop.text, 80)}` makes {_units.share(loop.share)} of the "
        "graph: its body is traced anew in each iteration.",
        "Loop in the graph, where the body is traced once: keras.layers.RNN(cell, return_sequences=True) for a cell "
        "that is called for each time step, else `for t in tf.range(n)` with a tf.TensorArray for what it collects.",
        percent,
        proved_by="steps",
        place=place,
        gain_low_percent=_LEAST_UNROLLED * percent,
        gain_high_percent=at_most(percent),
        gain_of="cell",
        rule=UNROLLED_LOOP.id,
    )


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
    share = float(steps["step_ms"].sum() / (table["step_ms"].sum() or 1))
    if _new_functions(evidence)[0] or share <= _WORTH_SAYING_SHARE or not _may_have_traced_again(evidence):
        return
    first, others = steps.iloc[0], len(steps) - 1
    name, differs, fix = _late_cause(evidence)
    more = f" and {others} more step{'s' * (others > 1)}" * bool(others)
    yield Finding(
        "medium" if others or share >= _LATE_MEDIUM_SHARE else "info",
        "A function is traced again in the middle of the run",
        f"{first['step_name']}{more} traced or compiled: "
        f"{_units.milliseconds(float(first['step_ms']))}, compared to "
        f"{_units.milliseconds(float(first['typical_ms']))} for the median step."
        f"{differs and f' Of {name}, {differs}.'}",
        fix,
        start_ms=float(first["start_ms"]),
        duration_ms=float(first["step_ms"]),
        proved_by=LATE.page,
        rule=LATE.id,
    )


def _may_have_traced_again(evidence: Evidence) -> bool:
    """Whether some function was traced again, as far as the capture tells, or XLA compiled one."""
    unknown = not len(evidence.functions.table)
    return unknown or bool(evidence.functions.summary["retraced"]) or evidence.compilations().programs > 0


def _late_cause(evidence: Evidence) -> tuple[str, str, str]:
    """Return the function that was traced again, how its calls differ, and the fix; empty texts if that is unknown."""
    calls = evidence.functions.table
    known = calls[calls["function"].isin(evidence.functions.summary["retraced"]) & (calls["cause"] != "")]
    if known.empty:
        return "", "", _LAST_BATCH_OR_ELSE
    name, cause = str(known["function"].iloc[0]), str(known["cause"].iloc[0])
    differs, _, advised = cause.partition("; ")[0].rpartition(": ")
    fix = remedy(evidence.code, name, cause, advised).fix if name not in OF_KERAS else _LAST_BATCH_OR_ELSE
    if GENERALISE in cause and name not in OF_KERAS:
        fix = f"{_LAST_BATCH} Otherwise {fix[:1].lower()}{fix[1:]}"
    return shown_name(evidence.code, name), differs, fix
