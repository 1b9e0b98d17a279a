"""What to change about Python code that runs in or between the steps: callbacks, and lines of the user's code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.callback_advice import callback_findings
from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.findings import Finding, saving
from tfprof_nb.analysis.advice.keras_call_advice import model_findings, record_findings, single_predictions
from tfprof_nb.analysis.advice.python_time import (
    FEWER_SAVED,
    FRAMEWORKS,
    HIGH_PERCENT,
    LEAST_SAVED,
    MIN_SAMPLES,
    WORTH_SAYING_PERCENT,
    in_code,
    loop_of_steps,
    method_of,
    rarely,
)
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.source.calls import same_call
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.loops import collected, element_read, is_head
from tfprof_nb.analysis.source.uses import Use, use_of

_MORE = 1.2
_WRITES = re.compile(
    r"\.to_(?:csv|json|pickle|parquet|excel|hdf)\(|\b(?:json|pickle|yaml|joblib)\.dump\(|\bnp\.save\w*\(|savefig\("
)
_COLLECTS = re.compile(r"\bnp\.(?:array|stack|asarray|vstack|concatenate)\(\[.* for .* in ")
_SAME = (
    "`{}` gets the same values each time. If it then gives the same, call it once, before the loop, and take what each "
    "step needs from the result."
)
_LONGER = (
    "There is more in {} after each {}, so this work gets longer: do `{}` once, after the loop. If it is needed "
    "earlier, do it {}, or keep a running result to which each step adds, as the metrics of Keras do."
)
# Methods of tensors and variables that wait until the value is there, as people call them.
_WAITING_CALLS = {
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "int()",
    "__bool__": "A condition",
    "__array__": "NumPy",
    "numpy": ".numpy()",
    "__str__": "print()",
    "__repr__": "print()",
    "__format__": "An f-string",
}
_APPENDED = re.compile(r"^([\w.]+)\.append\((float|int)\(([\w.\[\]\"']+)\)\)$")
# An array or tensor that a loop joins to itself.
_GROWN = re.compile(r"^(\w+) *= *((?:np|numpy|tf|jnp)\.\w+)\([\[(] *\1 *, *(\w+) *[\])]((?:,[^()]*)?)\)")
_OF_OTHERS = 0.1
_OFTEN_ENOUGH = "every 50 steps"

SYNC = Rule(
    "sync-each-step",
    "The program waits for the result of each step",
    "Looks for lines that turn a result into a value of Python in each step: `float(loss)`, `.numpy()`, `print`.",
    "The program waits there until the step has run, and prepares no next one meanwhile.",
    group="python",
    page="python",
    moderate=WORTH_SAYING_PERCENT,
    high=HIGH_PERCENT,
    of="training",
    saved=(FEWER_SAVED, None),
    results="equal",
)
OUTSIDE = Rule(
    "python-outside-steps",
    "Python takes much of the cell's time before or after the steps",
    "Looks for functions, and lines of the cell, that take a fifth of the cell and more outside of its steps.",
    "What is done once, and kept, need not be done whenever the cell runs.",
    group="python",
    page="python",
    high=40.0,
    moderate=20.0,
    of="cell",
    saved=(LEAST_SAVED, None),
)
IN_STEPS = Rule(
    "python-in-loop",
    "Python in the loop of the steps takes much of the time",
    "Looks for functions, and lines of the cell, that run in or between the steps while TensorFlow records nothing.",
    "The program runs one thing at a time: while its Python computes, no step does.",
    group="python",
    page="python",
    moderate=WORTH_SAYING_PERCENT,
    high=HIGH_PERCENT,
    of="training",
    saved=(FEWER_SAVED, None),
)


def python_findings(evidence: Evidence, sessions: Sequence[Finding]) -> list[Finding]:
    """Name the callbacks, and else the lines of Python, that take much of the time."""
    callbacks, waits = list(callback_findings(evidence)), list(_waits(evidence))
    explained = sum(finding.estimated_gain_percent for finding in callbacks)
    models = list(model_findings(evidence))
    others = [*waits, *sessions, *single_predictions(evidence), *record_findings(evidence)]
    others += [*models, *_outside_steps(evidence)]
    named = {finding.subject for finding in models}
    functions = _functions(evidence, beside_waits=bool(waits))
    others += [finding for finding in functions if finding.subject not in named]
    # A callback's own lines, and the functions that it calls, are part of its time.
    return callbacks + [other for other in others if other.estimated_gain_percent > _MORE * explained]


def _waits(evidence: Evidence) -> Iterator[Finding]:
    """Lines that turn a result into a Python value, and wait for it before the program prepares the next step."""
    calls = evidence.python.calls
    how = method_of(calls)
    calls = calls[how.isin(list(_WAITING_CALLS)) & calls["library"].isin(FRAMEWORKS) & (calls["thread"] == "main")]
    whole_ms = training_ms(evidence)
    for (file, line), rows in calls.groupby(["file", "line"], sort=False):
        waited_ms = float(rows["self_ms"].sum() - rows["outside_ms"].sum())
        percent = 100 * waited_ms / whole_ms if whole_ms else 0.0
        if element_read(evidence.code, str(file), int(str(line))):  # each element has an op of its own
            continue
        # Whichever of the wait and the rest of the loop is shorter is then hidden behind the other.
        overlap = min(percent, 100 - percent)
        if overlap >= SYNC.moderate and rows["samples"].sum() >= MIN_SAMPLES:
            yield _wait(evidence, rows, str(file), int(str(line)), min(percent, 100.0))


def _wait(evidence: Evidence, rows: pd.DataFrame, file: str, line: int, percent: float) -> Finding:
    how = _WAITING_CALLS[str(rows.iloc[0]["call"]).rpartition(".")[2]]
    place, code = place_of(file, line), evidence.code.line(file, line)
    overlap = min(percent, 100 - percent)
    kept = _APPENDED.match(code)
    change = f"{kept[1]}.append({kept[3]})  # convert after the loop: [{kept[2]}(x) for x in {kept[1]}]" if kept else ""
    fix = (
        f"Keep the tensors, and convert them after the loop: `{kept[1]}.append({kept[3]})`."
        if kept
        else "Convert it every 50 steps only, not in each."
    )
    return saving(
        SYNC,
        overlap,
        finding=f"{how} waits for the result of each step: {evidence.of_training(percent)}",
        evidence=f"{in_code(place, code)}: the program waits there until the step has run, and prepares nothing "
        "meanwhile.",
        fix=fix,
        place=place,
        change=change,
    )


def _outside_steps(evidence: Evidence) -> Iterator[Finding]:
    """Functions of the user's, and lines of the cell, that take much of the cell's time before or after its steps."""
    summary = evidence.overview.summary
    whole_ms = float(summary["capture_ms"]) - float(np.nan_to_num(summary["warm_up_steps_ms"]))
    table = evidence.python.table
    table = table[(table["thread"] == "main") & ~table["library"].isin(FRAMEWORKS) & (table["line"] > 0)]
    own = np.where(table["function"] == "<module>", table["line"], 0)
    where = ", outside the steps" if len(evidence.steps.table) else ""
    left_out = " Warm-up is left out of the share." if summary["warm_up_steps_ms"] > 0 else ""
    for (function, file, _), rows in table.groupby(["function", "file", own], sort=False):
        time_ms = float(rows["outside_ms"].sum())
        percent = 100 * time_ms / whole_ms if whole_ms > 0 else 0.0
        if percent < OUTSIDE.moderate or rows["samples"].sum() < MIN_SAMPLES:
            continue
        slowest = rows.iloc[int(np.argmax(rows["outside_ms"].to_numpy()))]
        line, caller = int(slowest["line"]), str(slowest["called_from"])
        place, code = place_of(str(file), line), evidence.code.line(str(file), line)
        if not slowest["library"] and code.startswith(("for ", "while ", "with ")):  # what it takes from is not known
            continue
        name = in_code(place, code) if function == "<module>" else f"{function} ({place})"
        library = f", mostly in {slowest['library']}" if slowest["library"] else ""
        from_code = evidence.code.at(caller)
        called = f", called from {caller}{f', `{_units.shorten(from_code, 80)}`' if from_code else ''}"
        yield saving(
            OUTSIDE,
            percent,
            finding=f"{name} takes {_units.percent(percent)} of the cell's time{where}",
            evidence=f"{_units.milliseconds(time_ms)}{library}"
            f"{f', in `{_units.shorten(code, 80)}`' if code and function != '<module>' else ''}"
            f"{called if caller and function != '<module>' else ''}.{left_out}",
            fix=_outside_fix(str(slowest["library"]), str(function), evidence.code.at(caller) or code),
            place=place,
            subject=place if function == "<module>" else str(function),
        )


def _outside_fix(library: str, function: str, calling: str) -> str:
    """Say what to do about code that runs before or after the steps."""
    what = f"{function}()" if function != "<module>" else "this line"
    if library == "pandas" and ".apply(" in calling:
        rows = f"pandas calls {what} for each row. " if function != "<module>" else ""
        return f"{rows}Work on whole columns, for example np.sqrt(df['x']): that takes a fraction of the time."
    return f"Do it once in a cell of its own, and keep the result in a variable or a file, or make {what} faster."


def _functions(evidence: Evidence, *, beside_waits: bool) -> Iterator[Finding]:
    """Functions of the user's, and lines of the cell, that run while TensorFlow records nothing."""
    whole_ms = training_ms(evidence)
    table = evidence.python.table
    table = table[(table["thread"] == "main") & ~table["library"].isin(FRAMEWORKS) & (table["line"] > 0)]
    heads = [is_head(evidence.code, str(file), line) for file, line in zip(table["file"], table["line"], strict=True)]
    table = table[~(np.array(heads, dtype=bool) & (table["library"] == "").to_numpy())]  # it waits for its items
    own = np.where(table["function"] == "<module>", table["line"], 0)
    for (_, file, _), rows in table.groupby(["function", "file", own], sort=False):
        time_ms = float(rows["nothing_ms"].sum() + rows["between_steps_ms"].sum())
        percent = min(100.0, 100 * time_ms / whole_ms) if whole_ms else 0.0
        if percent >= IN_STEPS.moderate and rows["samples"].sum() >= MIN_SAMPLES:
            finding, use = _function(evidence, str(file), rows, time_ms, percent)
            if not (beside_waits and use == "batch"):  # once nothing waits for results, the steps run meanwhile
                yield finding


def _function(evidence: Evidence, file: str, rows: pd.DataFrame, time_ms: float, percent: float) -> tuple[Finding, Use]:
    """Return the finding, and what the function's value is for."""
    longest = rows.iloc[int(np.argmax((rows["nothing_ms"] + rows["between_steps_ms"]).to_numpy()))]
    line, function, caller = int(longest["line"]), str(longest["function"]), str(longest["called_from"])
    place, code = place_of(file, line), evidence.code.line(file, line)
    name = in_code(place, code) if function == "<module>" else f"{function} ({place})"
    library = f", mostly in {longest['library']}" if longest["library"] else ""
    calling = caller if function != "<module>" and caller else place
    from_code = evidence.code.at(caller)
    from_code = f", `{_units.shorten(from_code, 80)}`" if from_code else ""
    called = f", called from {caller}{from_code}" if calling == caller else ""
    written = f", in `{_units.shorten(code, 80)}`" if code and function != "<module>" else ""
    use = use_of(evidence.code, *line_at(calling))
    # It trains or computes: the loop may need what it does. Ops of other threads may run at the same time.
    if use == "record" and float(rows["ops_ms"].sum()) > _OF_OTHERS * float(rows["self_ms"].sum()):
        use = ""
    looping = not longest["library"] and function != "<module>" and evidence.code.in_loop(file, line)
    steps = max(len(evidence.steps.table), 1)
    same = same_call(evidence.code, *line_at(calling), function) if function != "<module>" else ""
    longer = collected(evidence.code, *line_at(calling))
    loop = loop_of_steps(evidence, *line_at(calling))
    every = f"in few passes of `{_units.shorten(loop, 60)}` only" if loop else _OFTEN_ENOUGH
    taken = f"{_units.milliseconds(time_ms)} in all" if loop else f"{_units.milliseconds(time_ms / steps)} per step"
    finding = saving(
        IN_STEPS,
        percent,
        finding=f"{name} takes {evidence.of_training(percent)}{', on all that the loop has collected' * bool(longer)}",
        evidence=f"{taken}{library}{written}{called}: TensorFlow waits meanwhile.",
        fix=(same and _SAME.format(same))
        or (longer and _longer(longer, evidence.code.at(calling), every, "pass" if loop else "step"))
        or rarely(evidence, *line_at(calling))
        or _fix_of(use, function, evidence.code.at(calling), place, code, looping=looping, every=every),
        place=place,
        saved=(LEAST_SAVED if longer or use in ("record", "validation") else FEWER_SAVED, None),
        subject=place if function == "<module>" else function,
    )
    return finding, use


def _longer(collections: list[str], code: str, every: str, after: str) -> str:
    return _LONGER.format(" and ".join(collections), after, _units.shorten(code, 80), every)


def _fix_of(
    use: str, function: str, calling: str, slowest: str, slowest_code: str, *, looping: bool, every: str = _OFTEN_ENOUGH
) -> str:
    """Say what to do about code whose value is used like this."""
    what = f"{function}()" if function != "<module>" else "this line"
    if use == "validation":
        return f"Call {what} once, before the loop, and pass the same data to each fit."
    if use == "batch" and _COLLECTS.search(slowest_code):
        return (
            f"Keep what {slowest} collects in one NumPy array from the beginning, and take the rows of a batch by "
            "their numbers: `array[numbers]`."
        )
    if use == "batch":
        return (
            f"If {what} makes the next batch, let it run while the step runs: with `pool = "
            "concurrent.futures.ThreadPoolExecutor(1)`, submit the call for the next batch before the step, and take "
            "its `.result()` after it."
        )
    if use == "record" and calling:
        return (
            f"Nothing in the loop needs its value: do `{_units.shorten(calling, 80)}` {every}, or once after the loop."
        )
    if joined := joined_once(calling):
        return joined
    if _WRITES.search(slowest_code):
        return f"Write less often: `{_units.shorten(slowest_code, 80)}` once after the loop, or {every}."
    inside = f", where {slowest} takes most of its time" if function != "<module>" else ""
    whole = " NumPy on whole arrays takes a fraction of the time of a loop in Python." * looping
    return f"Make {what} faster{inside}, or do it less often if the loop allows that.{whole}"


def joined_once(code: str) -> str:
    """Say how to collect parts that a line joins to an array or tensor in each step; empty for other lines."""
    grown = _GROWN.match(code)
    if not grown:
        return ""
    parts = f"{grown[1]}_parts"
    return (
        f"It copies all rows so far each time. Collect them in a list, `{parts} = [{grown[1]}]` before the loop "
        f"and `{parts}.append({grown[3]})` in it, and join them once after it: `{grown[1]} = {grown[2]}({parts}"
        f"{grown[4]})`."
    )
