"""What to change about callbacks that take much of the steps, or of the training."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.findings import Finding, saving
from tfprof_nb.analysis.advice.python_time import HIGH_PERCENT, WORTH_SAYING_PERCENT, every_few, method_of, raised
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.source.callbacks import given_to, needed
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.guards import guard_in
from tfprof_nb.analysis.source.loops import repeats
from tfprof_nb.analysis.source.rewriting import on_batch, with_value

# Arguments that let a callback of Keras work often: what it then does, and what to pass instead, whose default it is.
_OFTEN = {
    "save_freq": ("saves", '"epoch"'),
    "update_freq": ("writes", '"epoch"'),
    "histogram_freq": ("writes histograms of all weights", "0"),
}
_OF_KERAS = {
    "ModelCheckpoint": (("save_freq",), "Save less often."),
    "BackupAndRestore": (("save_freq",), "Back up less often."),
    "TensorBoard": (
        ("histogram_freq", "update_freq"),
        "Write less: histograms of all weights take long (`histogram_freq=0`).",
    ),
}
_MOSTLY, _LEAST_SAVED = 0.5, 0.7
_TRAINING = "the training's time"
_SAVING, _ONCE = ("ModelCheckpoint", "BackupAndRestore"), "on_epoch_end"

RULE = Rule(
    "slow-callback",
    "A callback takes much of the steps or of the training",
    "Looks for methods of callbacks that take a tenth and more of each step, or of the training.",
    "Keras waits for callbacks: what runs after each batch makes every step longer.",
    group="python",
    explains=("callback",),
    page="python",
    moderate=WORTH_SAYING_PERCENT,
    high=HIGH_PERCENT,
    of="training",
    saved=(_LEAST_SAVED, None),
    results="equal",
)
PREDICTING = replace(
    RULE,
    id="predict-in-callback",
    title="A callback calls predict again and again",
    what="Looks for methods of callbacks that spend most of their time on starting and ending calls of `predict`.",
    why="Each call sets up an input pipeline of its own, which takes longer than to predict a few examples.",
    part_of="slow-callback",
)


def callback_findings(evidence: Evidence) -> Iterator[Finding]:
    """Name the callbacks that take much of each step, or of the training."""
    measured_ms, whole_ms = float(evidence.steps.measured["step_ms"].sum()), training_ms(evidence)
    sampled = len(evidence.python.table) > 0
    calm = evidence.python.callbacks["callback"].isin(_SAVING) & (evidence.python.callbacks["method"] == _ONCE)
    for row in evidence.python.callbacks[~calm].to_dict("records"):
        if sampled and row["callback"] == "LambdaCallback":  # its function has a name of its own
            continue
        in_steps = row["measured_ms"] > 0
        # The last call at the end of an epoch follows the last step.
        after_ms = row["total_ms"] / row["calls"] if row["method"] == _ONCE else 0.0
        time_ms, of_ms = (row["measured_ms"], measured_ms) if in_steps else (row["total_ms"], whole_ms + after_ms)
        percent = 100 * time_ms / of_ms if of_ms > 0 else 0.0  # of a training that failed, there may be no step
        if percent >= RULE.moderate:
            takes = f"{_units.percent(percent)} of {'each step' if in_steps else _TRAINING}"
            yield _callback(evidence, row, takes, percent * min(1.0, of_ms / whole_ms) if in_steps else percent)


def _callback(evidence: Evidence, row: dict[Any, Any], share: str, percent: float) -> Finding:
    """Return the finding on a callback that takes a share of the steps or of the training, and a part of the latter."""
    name = f"{row['callback']}.{row['method']}"
    place = _place_of_function(evidence, name)
    each = _units.milliseconds(row["total_ms"] / max(row["calls"], 1))
    calls = f"{_units.count(row['calls'])} call{'s' * (row['calls'] != 1)}"
    takes, ran = f"{name} takes {share}", f"The callback's {calls} took {each} each"
    if found := _predicting(evidence, row, takes, ran, percent):
        return found
    if row["callback"] in _OF_KERAS:
        fix, defined, change = _default(evidence, row["callback"], row["method"])
    else:
        fix, defined, change = _rarer(evidence, row["callback"], row["method"], int(row["calls"]))
    made = next(evidence.code.find(rf"\b{re.escape(str(row['callback']))}\("), None)
    place = place or (place_of(*made) if made else "")
    return saving(
        RULE,
        min(percent, 100.0),
        finding=takes,
        evidence=f"{ran}{f' ({place})' if place else ''}.",
        fix=fix,
        place=defined or place,
        change=change,
        subject=name,
    )


def _predicting(evidence: Evidence, row: dict[Any, Any], takes: str, ran: str, percent: float) -> Finding | None:
    """Return the finding on a callback that predicts in a loop, where starting these calls is most of its work."""
    calls, name = evidence.python.calls, f"{row['callback']}.{row['method']}"
    own = (calls["function"] == name) & (calls["thread"] == "main") & (method_of(calls) == "predict")
    starting = calls[own].groupby(["file", "line"])["between_steps_ms"].sum().nlargest(1)
    share = float(starting.sum()) / row["total_ms"]
    if share < _MOSTLY:
        return None
    file, line = str(starting.index[0][0]), int(starting.index[0][1])
    if not repeats(evidence.code, file, line):
        return None
    place, code = place_of(file, line), _units.shorten(evidence.code.line(file, line), 80)
    model = evidence.code.owner(file, line, "predict") or "model"
    itself = on_batch(evidence.code, file, line, "predict")
    skipping = f" Or skip that pipeline: `{_units.shorten(itself, 120)}`." if itself else ""
    return saving(
        PREDICTING,
        min(percent, 100.0),
        finding=f"{takes}: it calls {model}.predict again and again",
        evidence=f"{ran}. {_units.share(share)} of this time goes into starting and ending the calls in `{code}` "
        f"({place}): each sets up an input pipeline of its own.",
        fix=f"Call {model}.predict once, with all examples in one array.{skipping}",
        place=place,
        change=itself,
        saved=(_LEAST_SAVED * share, None),
        subject=name,
    )


def _default(evidence: Evidence, callback: str, method: str) -> tuple[str, str, str]:
    """Return which argument lets a callback of Keras work often, in words, with the place and the code without."""
    names, otherwise = _OF_KERAS[callback]
    for name in names:
        given = given_to(evidence.code, callback, name)
        value = ast.unparse(given.value) if given else ""
        after_batches, (does, default) = "_batch_" in method, _OFTEN[name]
        in_force = value == ast.unparse(ast.parse(default))
        if given is None or in_force or (name == "histogram_freq") == after_batches:
            continue
        change = with_value(evidence.code, given.file, given.line, callback, name, default)
        rarer = f", or {name}=5, to write them every 5 epochs" if name == "histogram_freq" and value == "1" else ""
        often = "after each epoch" if not after_batches else "during the epochs"
        told = _units.shorten(change or f"{callback}(..., {name}={default})", 120)
        return f"With {name}={value} it {does} {often}. Instead: `{told}`{rarer}.", place_of(*given[:2]), change
    return otherwise, "", ""


def _rarer(evidence: Evidence, callback: str, method: str, calls: int) -> tuple[str, str, str]:
    """Return how to run a callback's method less often: in words, and where that is certain as a place and its code."""
    file, line, parameters = evidence.code.method(f"{callback}.{method}")
    number, definition = parameters[1] if len(parameters) > 1 else "", evidence.code.line(file, line)
    guard, condition = guard_in(evidence.code, file, line)
    if guard:
        return raised(evidence, file, guard, condition), "", ""
    every, what = every_few(calls), "batches" if "_batch_" in method else "epochs"
    if not number or number == "logs":
        return f"Do its work every {every} {what}, or make it cheaper.", "", ""
    others = needed(evidence.code, file, line)
    if others.keys:
        keys = " and ".join(f"`{key}`" for key in others.keys)
        fix = f"Do its work every {every} {what}, and write the last value into logs in the others: the history and "
        return f"{fix}other callbacks read {keys} there after each call.", "", ""
    if others.changes_model:
        return "Make it cheaper. It changes the model: done less often, the training would be another.", "", ""
    skipped = f"if {number} % {every}"
    fix = f"Do its work every {every} {what}: begin {method} with `{skipped}: return`."
    if others.unknown or not definition.endswith(":"):
        return fix, "", ""
    return fix, place_of(file, line), f"{definition}\n    {skipped}:\n        return"


def _place_of_function(evidence: Evidence, name: str) -> str:
    """Return the place of a function's line with the most time, if the samples have the function."""
    table = evidence.python.table
    rows = table[(table["function"] == name) | table["function"].str.endswith(f".{name}")]
    return place_of(str(rows.iloc[0]["file"]), int(rows.iloc[0]["line"])) if len(rows) else ""
