"""What to change about Python code that runs in or between the steps: callbacks, and lines of the user's code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, severity_of

# Shares of the steps' time, or of the time from the first step to the last for what runs between steps.
_WORTH_SAYING_PERCENT, _HIGH_PERCENT = 10.0, 25.0
_MIN_SAMPLES = 10
# Libraries in which a line of the user's spends its time when it only starts training, such as the line of model.fit.
_FRAMEWORKS = ("Keras", "TensorFlow", "tfprof_nb")
# What part of the time a fix saves at least: the code still runs now and then, and the pipeline may then be what waits.
_LEAST_SAVED = 0.7
_MORE = 1.2
_LESS_OFTEN = {
    "ModelCheckpoint": 'Save less often: ModelCheckpoint(..., save_freq="epoch").',
    "BackupAndRestore": 'Back up less often: BackupAndRestore(..., save_freq="epoch").',
    "TensorBoard": 'Write less often: TensorBoard(..., update_freq="epoch").',
}


def python_findings(evidence: Evidence) -> list[Finding]:
    """Name the callbacks, and else the lines of Python, that take much of the time."""
    callbacks = list(_callbacks(evidence))
    explained = sum(finding.estimated_gain_percent for finding in callbacks)
    # A callback's own lines, and the functions that it calls, are part of its time.
    return callbacks + [line for line in _lines(evidence) if line.estimated_gain_percent > _MORE * explained]


def _callbacks(evidence: Evidence) -> Iterator[Finding]:
    measured_ms, (_, whole_ms) = float(evidence.steps.measured["step_ms"].sum()), _times_ms(evidence)
    for row in evidence.python.callbacks.to_dict("records"):
        in_steps = row["measured_ms"] > 0
        time_ms, of_ms = (row["measured_ms"], measured_ms) if in_steps else (row["total_ms"], whole_ms)
        percent = 100 * time_ms / max(of_ms, 1e-9)
        if percent >= _WORTH_SAYING_PERCENT:
            yield _callback(evidence, row, percent, in_steps)


def _callback(evidence: Evidence, row: dict[Any, Any], percent: float, in_steps: bool) -> Finding:
    name = f"{row['callback']}.{row['method']}"
    place = _place_of_function(evidence, name)
    of_what = "each step" if in_steps else "the time from the first step to the last"
    each = _units.milliseconds(row["total_ms"] / max(row["calls"], 1))
    calls = f"{_units.count(row['calls'])} call{'s' * (row['calls'] != 1)}"
    fix, change = _rarer(row["callback"], row["method"])
    return _finding(
        f"{name} takes {_units.percent(percent)} of {of_what}",
        f"The callback's {calls} took {each} each{f' ({place})' if place else ''}.",
        fix,
        percent,
        place,
        change,
    )


def _rarer(callback: str, method: str) -> tuple[str, str]:
    """Return how to run a callback's method less often, in words and as code where that is certain."""
    if callback in _LESS_OFTEN:
        return _LESS_OFTEN[callback], ""
    if "_batch_" in method:
        change = "if batch % 50:\n    return"
        return f"Do its work every 50 batches: begin {method} with `if batch % 50: return`.", change
    return "Make its work cheaper, or do it every few epochs: begin it with `if epoch % 5: return`.", (
        "if epoch % 5:\n    return" if "epoch" in method else ""
    )


def _lines(evidence: Evidence) -> Iterator[Finding]:
    """Functions of the user's that run while TensorFlow records nothing, by their longest line."""
    steps_ms, whole_ms = _times_ms(evidence)
    table = evidence.python.table
    table = table[(table["thread"] == "main") & ~table["library"].isin(_FRAMEWORKS) & (table["line"] > 0)]
    for column, of_ms in (("nothing_ms", steps_ms), ("between_steps_ms", whole_ms)):
        for (function, file), rows in table.groupby(["function", "file"], sort=False):
            percent = 100 * float(rows[column].sum()) / max(of_ms, 1e-9)
            if percent >= _WORTH_SAYING_PERCENT and rows["samples"].sum() >= _MIN_SAMPLES:
                yield _line(evidence, str(function), str(file), rows, column, percent)


def _line(evidence: Evidence, function: str, file: str, rows: pd.DataFrame, column: str, percent: float) -> Finding:
    longest = rows.iloc[int(np.argmax(rows[column].to_numpy()))]
    place = _place(file, int(longest["line"]))
    name = place if function == "<module>" else f"{function} ({place})"
    of_what = "each step" if column == "nothing_ms" else "the time from the first step to the last, between steps"
    library = f", mostly in {longest['library']}" if longest["library"] else ""
    per_step = float(rows[column].sum()) / max(len(evidence.steps.table), 1)
    code = evidence.code_of(file, int(longest["line"]))
    return _finding(
        f"Python takes {_units.percent(percent)} of {of_what}: {name}",
        f"{_units.milliseconds(per_step)} per step{library}{f': `{_units.shorten(code, 80)}`' if code else ''}.",
        "Do this every 50 steps instead of every step, or after training. If each step needs it, write it with "
        "TensorFlow ops inside the @tf.function.",
        percent,
        place,
        "",
    )


def _finding(finding: str, evidence: str, fix: str, percent: float, place: str, change: str) -> Finding:
    percent = min(percent, 100.0)
    return Finding(
        severity_of(percent, _WORTH_SAYING_PERCENT, _HIGH_PERCENT),
        finding,
        evidence,
        fix,
        percent,
        proved_by="python",
        place=place,
        gain_low_percent=_LEAST_SAVED * percent,
        gain_high_percent=percent,
        change=change,
    )


def _times_ms(evidence: Evidence) -> tuple[float, float]:
    """Return the time of all steps if each took as long as the measured ones, and the time from the first to the last.

    Warm-up steps are much longer: in shares of their time, nothing that runs in every step would matter.
    """
    table = evidence.steps.table
    if table.empty:
        return 0.0, 0.0
    spans = table.assign(end_ms=table["start_ms"] + table["step_ms"]).groupby("host")
    whole_ms = (spans["end_ms"].max() - spans["start_ms"].min()).sum()
    return len(table) * float(evidence.steps.measured["step_ms"].mean()), float(whole_ms)


def _place_of_function(evidence: Evidence, name: str) -> str:
    """Return the place of a function's line with the most time, if the samples have the function."""
    table = evidence.python.table
    rows = table[(table["function"] == name) | table["function"].str.endswith(f".{name}")]
    return _place(str(rows.iloc[0]["file"]), int(rows.iloc[0]["line"])) if len(rows) else ""


def _place(file: str, line: int) -> str:
    return f"{file} line {line}"
