"""What to change about calls of Keras beside training: predictions, saving, weights that are copied, models built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.findings import Finding, at_most, saving
from tfprof_nb.analysis.advice.python_time import (
    FEWER_SAVED,
    FRAMEWORKS,
    HIGH_PERCENT,
    LEAST_SAVED,
    MIN_SAMPLES,
    WORTH_SAYING_PERCENT,
    in_code,
    method_of,
    rarely,
)
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.copied_weights import copied_weights
from tfprof_nb.analysis.source.rewriting import on_batch

_WRITING_SUMMARIES = ("scalar", "histogram", "image", "audio", "text", "flush", "write")
_RECORDING_CALLS = (*_WRITING_SUMMARIES, "save", "save_weights", "save_model", "export")
_COPYING = (
    "copies weights through NumPy",
    (
        "Assign variable to variable in a function with @tf.function, for example: `for target, source in "
        "zip(target_model.weights, model.weights): target.assign(tau * source + (1 - tau) * target)`."
    ),
)
_BUILDING = (
    "builds a model again and again",
    "Build the model once, before the loop, and copy the weights into it: `copy.set_weights(model.get_weights())`.",
)
# Methods of Keras that are no training, what they do, and what to do instead.
_MODEL_CALLS = {
    "get_weights": _COPYING,
    "set_weights": _COPYING,
    "clone_model": _BUILDING,
    "model_from_json": _BUILDING,
    "from_config": _BUILDING,
}
_MOSTLY_WEIGHTS = 0.5
_BY_KERAS = ("predict", "evaluate")
_MIN_CALLS, _PART = 10, 0.1

SINGLE_CALLS = Rule(
    "predict-per-example",
    "predict or evaluate is called again and again, for a few examples each",
    "Looks for calls of `model.predict` and `model.evaluate` that spend most of their time on starting and ending.",
    "Each call sets up an input pipeline and callbacks of its own, which takes longer than to compute a few examples.",
    group="python",
    page="python",
    moderate=WORTH_SAYING_PERCENT,
    high=HIGH_PERCENT,
    of="training",
    saved=(LEAST_SAVED, None),
    supersedes=("old-iterators-end",),
    results="close",
)
WRITING = Rule(
    "frequent-writing",
    "Summaries, checkpoints or models are written very often",
    "Looks for lines that write summaries, checkpoints and models, and take much of the training.",
    "The program waits while it writes.",
    group="python",
    page="python",
    moderate=WORTH_SAYING_PERCENT,
    high=HIGH_PERCENT,
    of="training",
    saved=(LEAST_SAVED, None),
)
WEIGHTS = Rule(
    "weights-through-numpy",
    "Weights are copied through NumPy",
    "Looks for functions that copy a model's weights by `get_weights` and `set_weights`, as for a target network.",
    "Each weight is copied to an array and back, by ops that run one by one.",
    group="python",
    page="python",
    moderate=WORTH_SAYING_PERCENT,
    high=HIGH_PERCENT,
    of="training",
    saved=(FEWER_SAVED, None),
)
REBUILT = Rule(
    "model-rebuilt-each-step",
    "A model is built again and again",
    "Looks for functions that clone a model, or make it from its configuration, again and again.",
    "To make a model makes its layers, and weights with their first values.",
    group="python",
    page="python",
    moderate=WORTH_SAYING_PERCENT,
    high=HIGH_PERCENT,
    of="training",
    saved=(FEWER_SAVED, None),
)


def single_predictions(evidence: Evidence) -> Iterator[Finding]:
    """Calls of predict or evaluate for few examples each: most of the time goes into starting them."""
    calls, phases = evidence.python.calls, evidence.steps.table["phase"]
    method = method_of(calls)
    for name, phase in zip(_BY_KERAS, ("predict", "test"), strict=True):
        rows = calls[(method == name) & (calls["library"] == "Keras") & (calls["thread"] == "main")]
        starting_ms = float(rows["between_steps_ms"].sum())
        percent = 100 * starting_ms / max(training_ms(evidence), 1e-9)
        batches = int((phases == phase).sum())
        if percent < SINGLE_CALLS.moderate or batches < _MIN_CALLS or starting_ms < rows["self_ms"].sum() / 2:
            continue
        first = rows.iloc[0]
        place, code = place_of(str(first["file"]), int(first["line"])), evidence.code.line(first["file"], first["line"])
        itself = on_batch(evidence.code, *line_at(place), name) if name == "predict" else ""
        model = evidence.code.owner(*line_at(place), name) or "model"
        once = f"Call {model}.{name} once with all examples in one array"
        others = _other_places(rows)
        likewise = f" Do so at {others} too." if others else ""
        fix = f"For a few examples, skip the pipeline: `{itself}`.{likewise}" if itself else f"{once}."
        fix += f" Where no call needs the result of another: {once[:1].lower()}{once[1:]}." if itself else ""
        # What each call computes is part of what a single call, or the model itself, does faster.
        whole_ms = float(rows["self_ms"].sum() - rows["outside_ms"].sum())
        most = min(100.0, max(percent, 100 * whole_ms / max(training_ms(evidence), 1e-9)))
        found = saving(
            SINGLE_CALLS,
            min(percent, 100.0),
            finding=f"{model}.{name} is called again and again, for a few examples each: "
            f"{evidence.of_training(percent)}",
            evidence=f"{in_code(place, code)}{others and f' and the calls at {others}'}: "
            f"{_units.milliseconds(starting_ms)} for {_units.count(batches)} batches "
            "is spent on starting the calls: each sets up an input pipeline of its "
            "own.",
            fix=fix,
            place=place,
            change=itself,
            subject=f"{model}.{name}",
        )
        # What such a call waits for is the beginning of its own pipeline; then it ends that pipeline's iterator.
        waits = (("input-bound", ""),) if set(phases) == {phase} else ()
        yield replace(found, gain_high_percent=at_most(most), instead_of=waits)


def _other_places(calls: pd.DataFrame) -> str:
    """Name the lines but the first that have a good part of the calls' time; empty if there are none."""
    times = calls.groupby(["file", "line"], sort=False)["self_ms"].sum()
    places = [place_of(str(file), int(line)) for file, line in times.index[times >= _PART * times.sum()]]
    first = place_of(str(calls["file"].iloc[0]), int(calls["line"].iloc[0]))
    return " and ".join(place for place in places if place != first)


def record_findings(evidence: Evidence) -> Iterator[Finding]:
    """Lines that write: summaries, checkpoints and models."""
    calls = evidence.python.calls
    wrote = method_of(calls).isin(_RECORDING_CALLS) & calls["library"].isin(FRAMEWORKS)
    whole_ms = training_ms(evidence)
    for (function, file), rows in calls[wrote & (calls["thread"] == "main")].groupby(["function", "file"], sort=False):
        time_ms = float(rows["self_ms"].sum() - rows["outside_ms"].sum())
        percent = min(100.0, 100 * time_ms / whole_ms) if whole_ms else 0.0
        if percent < WRITING.moderate or rows["samples"].sum() < MIN_SAMPLES:
            continue
        line, what = int(rows.iloc[0]["line"]), str(rows.iloc[0]["call"]).rpartition(".")[2]
        place, code = place_of(str(file), line), evidence.code.line(str(file), line)
        where = f"{function}: " if function != "<module>" else ""
        yield saving(
            WRITING,
            percent,
            finding=f"{where}{what}() writes for {evidence.of_training(percent)}",
            evidence=f"{in_code(place, code)}: {_units.milliseconds(time_ms / max(len(evidence.steps.table), 1))} "
            "per step.",
            fix=rarely(evidence, str(file), line) or "Write less often, for example every 50 steps.",
            place=place,
        )


def model_findings(evidence: Evidence) -> Iterator[Finding]:
    """Functions of the user's that copy a model's weights through NumPy, or build models, again and again."""
    calls = evidence.python.calls
    how = method_of(calls)
    calls = calls.assign(how=how)[how.isin(list(_MODEL_CALLS)) & (calls["thread"] == "main")]
    whole_ms = training_ms(evidence)
    own = np.where(calls["function"] == "<module>", calls["line"], 0)
    for (function, file, _), rows in calls.groupby(["function", "file", own], sort=False):
        time_ms = float(rows["self_ms"].sum() - rows["outside_ms"].sum())
        # Of a function that mostly works with weights, what it computes with them belongs to it.
        whole = evidence.python.table
        whole = whole[(whole["function"] == function) & (whole["file"] == file) & (whole["line"] > 0)]
        whole_function_ms = float((whole["self_ms"] - whole["outside_ms"] - whole["waiting_ms"]).sum())
        if function != "<module>" and time_ms >= _MOSTLY_WEIGHTS * whole_function_ms:
            time_ms = whole_function_ms
        percent = min(100.0, 100 * time_ms / whole_ms) if whole_ms else 0.0
        if percent < WEIGHTS.moderate or rows["samples"].sum() < MIN_SAMPLES:
            continue
        top = rows.iloc[int(np.argmax(rows["self_ms"].to_numpy()))]
        place, code = place_of(str(file), int(top["line"])), evidence.code.line(str(file), int(top["line"]))
        does, fix = _MODEL_CALLS[str(top["how"])]
        rule = WEIGHTS if does == _COPYING[0] else REBUILT
        if rule is WEIGHTS and (copied := copied_weights(evidence.code, str(file), int(top["line"]))):
            fix = fix.replace("target_model", copied.target).replace("model.weights", f"{copied.source}.weights")
            if not copied.mixed:
                fix = fix.replace("tau * source + (1 - tau) * target", "source")
        name = in_code(place, code) if function == "<module>" else f"{function} ({place})"
        subject = place if function == "<module>" else str(function)
        # Weights are made and assigned by ops of their own.
        yield saving(
            rule,
            percent,
            finding=f"{name} {does}: {evidence.of_training(percent)}",
            evidence=f"{_units.milliseconds(time_ms / max(len(evidence.steps.table), 1))} per step"
            f"{f', most of it in `{_units.shorten(code, 80)}`' if code and function != '<module>' else ''}.",
            fix=fix,
            place=place,
            subject=subject,
            instead_of=(("eager-ops", subject),),
        )
