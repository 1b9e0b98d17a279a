"""What to change about Python code that runs in or between the steps: callbacks, and lines of the user's code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import WAITING, Evidence, Finding, at_most, saving
from tfprof_nb.analysis.advice.session_advice import SESSION_RUN, session_graph_findings
from tfprof_nb.analysis.source.calls import same_call
from tfprof_nb.analysis.source.code import Use, line_at, place_of
from tfprof_nb.analysis.source.copied_weights import copied_weights
from tfprof_nb.analysis.source.loops import collected, element_read, is_head
from tfprof_nb.analysis.source.session_graphs import feeds

# Shares of the steps' time, or of the training's time.
_WORTH_SAYING_PERCENT, _HIGH_PERCENT = 10.0, 25.0
_MIN_SAMPLES = 10
# Libraries in which a line of the user's spends its time when it only starts training, such as the line of model.fit.
_FRAMEWORKS = ("Keras", "TensorFlow", "tfprof_nb")
# What part of the time a fix saves at least: the code still runs now and then, and the pipeline may then be what waits.
_LEAST_SAVED = 0.7
_MORE = 1.2
_EVERY = re.compile(r"((?:save|update)_freq *= *)(\d+|[\"']batch[\"'])")
_LESS_OFTEN = {
    "ModelCheckpoint": 'Save less often: ModelCheckpoint(..., save_freq="epoch").',
    "BackupAndRestore": 'Back up less often: BackupAndRestore(..., save_freq="epoch").',
    "TensorBoard": 'Write less often: TensorBoard(..., update_freq="epoch").',
}
_WRITES = re.compile(
    r"\.to_(?:csv|json|pickle|parquet|excel|hdf)\(|\b(?:json|pickle|yaml|joblib)\.dump\(|\bnp\.save\w*\(|savefig\("
)
_COLLECTS = re.compile(r"\bnp\.(?:array|stack|asarray|vstack|concatenate)\(\[.* for .* in ")
_SAME = (
    "`{}` gets the same values each time. If it then gives the same, call it once, before the loop, and take what each "
    "step needs from the result."
)
_LONGER = (
    "There is more in {} after each step, so this work gets longer: do `{}` once, after the loop. If it is needed "
    "earlier, do it every 50 steps, or keep a running result to which each step adds, as the metrics of Keras do."
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
_FEWER_SAVED = 0.3  # of what may overlap
_WRITING_SUMMARIES = ("scalar", "histogram", "image", "audio", "text", "flush", "write")
_RECORDING_CALLS = (*_WRITING_SUMMARIES, "save", "save_weights", "save_model", "export")
_MIN_COPYING_MS = 0.5
_WORTH_SAYING_OUTSIDE_PERCENT, _HIGH_OUTSIDE_PERCENT = 20.0, 40.0
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
_SAVING, _ONCE, _LEFT = ("ModelCheckpoint", "BackupAndRestore"), "on_epoch_end", 5
_BY_KERAS = ("predict", "evaluate")
_MIN_CALLS = 10


def python_findings(evidence: Evidence) -> list[Finding]:
    """Name the callbacks, and else the lines of Python, that take much of the time."""
    callbacks, waits = list(_callbacks(evidence)), list(_waits(evidence))
    explained = sum(finding.estimated_gain_percent for finding in callbacks)
    models = list(_models(evidence))
    others = [*waits, *_sessions(evidence), *_single_predictions(evidence), *_records(evidence)]
    others += [*models, *_outside_steps(evidence)]
    named = {_subject(finding) for finding in models}
    functions = _functions(evidence, beside_waits=bool(waits))
    others += [finding for finding in functions if _subject(finding) not in named]
    # A callback's own lines, and the functions that it calls, are part of its time.
    return callbacks + [other for other in others if other.estimated_gain_percent > _MORE * explained]


def _callbacks(evidence: Evidence) -> Iterator[Finding]:
    measured_ms, whole_ms = float(evidence.steps.measured["step_ms"].sum()), training_ms(evidence)
    sampled = len(evidence.python.table) > 0
    calm = evidence.python.callbacks["callback"].isin(_SAVING) & (evidence.python.callbacks["method"] == _ONCE)
    for row in evidence.python.callbacks[~calm].to_dict("records"):
        if sampled and row["callback"] == "LambdaCallback":  # its function has a name of its own
            continue
        in_steps = row["measured_ms"] > 0
        time_ms, of_ms = (row["measured_ms"], measured_ms) if in_steps else (row["total_ms"], whole_ms)
        percent = 100 * time_ms / of_ms if of_ms > 0 else 0.0  # of a training that failed, there may be no step
        if percent >= _WORTH_SAYING_PERCENT:
            yield _callback(evidence, row, percent, in_steps)


def _callback(evidence: Evidence, row: dict[Any, Any], percent: float, in_steps: bool) -> Finding:
    name = f"{row['callback']}.{row['method']}"
    place = _place_of_function(evidence, name)
    of_what = "each step" if in_steps else "the training's time"
    each = _units.milliseconds(row["total_ms"] / max(row["calls"], 1))
    calls = f"{_units.count(row['calls'])} call{'s' * (row['calls'] != 1)}"
    fix, defined, change = _rarer(evidence, row["callback"], row["method"], int(row["calls"]))
    made = next(evidence.code.find(rf"\b{re.escape(str(row['callback']))}\("), None)
    if made and not place:
        place, code = place_of(*made), evidence.code.line(*made)
        rarer = _EVERY.sub(r'\1"epoch"', code)
        change = rarer if row["callback"] in _LESS_OFTEN and rarer != code else change
    return _finding(
        f"{name} takes {_units.percent(percent)} of {of_what}",
        f"The callback's {calls} took {each} each{f' ({place})' if place else ''}.",
        fix,
        percent,
        defined or place,
        change,
    )


def _rarer(evidence: Evidence, callback: str, method: str, calls: int) -> tuple[str, str, str]:
    """Return how to run a callback's method less often: in words, and where that is certain as a place and its code."""
    if callback in _LESS_OFTEN:
        return _LESS_OFTEN[callback], "", ""
    file, line, parameters = evidence.code.method(f"{callback}.{method}")
    number, definition = parameters[1] if len(parameters) > 1 else "", evidence.code.line(file, line)
    guard, condition = evidence.code.guard_in(file, line)
    if guard:
        return _raised(evidence, file, guard, condition), "", ""
    every, what = _every(calls), "batches" if "_batch_" in method else "epochs"
    if not number or number == "logs":
        return f"Do its work every {every} {what}, or make it cheaper.", "", ""
    skipped = f"if {number} % {every}"
    fix = f"Do its work every {every} {what}: begin {method} with `{skipped}: return`."
    if not definition.endswith(":"):
        return fix, "", ""
    return fix, place_of(file, line), f"{definition}\n    {skipped}:\n        return"


def _waits(evidence: Evidence) -> Iterator[Finding]:
    """Lines that turn a result into a Python value, and wait for it before the program prepares the next step."""
    calls = evidence.python.calls
    how = _method(calls)
    calls = calls[how.isin(list(_WAITING_CALLS)) & calls["library"].isin(_FRAMEWORKS) & (calls["thread"] == "main")]
    whole_ms = training_ms(evidence)
    for (file, line), rows in calls.groupby(["file", "line"], sort=False):
        waited_ms = float(rows["self_ms"].sum() - rows["outside_ms"].sum())
        percent = 100 * waited_ms / whole_ms if whole_ms else 0.0
        if element_read(evidence.code, str(file), int(str(line))):  # each element has an op of its own
            continue
        # Whichever of the wait and the rest of the loop is shorter is then hidden behind the other.
        overlap = min(percent, 100 - percent)
        if overlap >= _WORTH_SAYING_PERCENT and rows["samples"].sum() >= _MIN_SAMPLES:
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
    return _finding(
        f"{how} waits for the result of each step: {_units.percent(percent)} of the time",
        f"{_in_code(place, code)}: the program waits there until the step has run, and prepares nothing meanwhile.",
        fix,
        overlap,
        place,
        change,
        _FEWER_SAVED,
    )


def _subject(finding: Finding) -> str:
    """Return the function, or the code, that a finding begins with."""
    return finding.finding.partition(" (")[0]


def _sessions(evidence: Evidence) -> Iterator[Finding]:
    """Sessions that run while no op runs: their graph grows, or else they copy what is fed and fetched."""
    return iter(session_graph_findings(evidence, training_ms(evidence)) or list(_session_copies(evidence)))


def _session_copies(evidence: Evidence) -> Iterator[Finding]:
    """Sessions that spend their runs on copying what is fed and fetched, while no op runs."""
    calls = evidence.python.calls
    for (file, line), rows in calls[calls["call"] == SESSION_RUN].groupby(["file", "line"], sort=False):
        nothing_ms = float(rows["nothing_ms"].sum())
        percent = 100 * nothing_ms / max(training_ms(evidence), 1e-9)
        each_ms = nothing_ms / max(len(evidence.steps.table), 1)
        if percent < _WORTH_SAYING_PERCENT or each_ms < _MIN_COPYING_MS or rows["samples"].sum() < _MIN_SAMPLES:
            continue
        if not feeds(evidence.code, str(file), int(str(line))):
            continue
        place, code = place_of(str(file), int(str(line))), evidence.code.line(str(file), int(str(line)))
        yield _finding(
            f"Feeding session.run takes {_units.percent(percent)} of the time",
            f"{_in_code(place, code)}: of each run, "
            f"{_units.milliseconds(each_ms)} passes while the fed values are converted and copied, and no op runs.",
            "Feed only what changes from run to run. Put large constant arrays into a variable once: "
            "`table = tf.get_variable('table', initializer=array, trainable=False)`. Feed arrays that have the "
            "placeholder's dtype (NumPy makes float64, placeholders are mostly float32).",
            percent,
            place,
            "",
        )


def _single_predictions(evidence: Evidence) -> Iterator[Finding]:
    """Calls of predict or evaluate for few examples each: most of the time goes into starting them."""
    calls, phases = evidence.python.calls, evidence.steps.table["phase"]
    method = _method(calls)
    for name, phase in zip(_BY_KERAS, ("predict", "test"), strict=True):
        rows = calls[(method == name) & (calls["library"] == "Keras") & (calls["thread"] == "main")]
        starting_ms = float(rows["between_steps_ms"].sum())
        percent = 100 * starting_ms / max(training_ms(evidence), 1e-9)
        batches = int((phases == phase).sum())
        if percent < _WORTH_SAYING_PERCENT or batches < _MIN_CALLS or starting_ms < rows["self_ms"].sum() / 2:
            continue
        first = rows.iloc[0]
        place, code = place_of(str(first["file"]), int(first["line"])), evidence.code.line(first["file"], first["line"])
        itself = evidence.code.on_batch(*line_at(place), name) if name == "predict" else ""
        model = evidence.code.owner(*line_at(place), name) or "model"
        once = f"Call {model}.{name} once with all examples in one array"
        fix = f"For a few examples, skip the pipeline: `{itself}`." if itself else f"{once}."
        fix += f" Where no call needs the result of another: {once[:1].lower()}{once[1:]}." if itself else ""
        # What each call computes is part of what a single call, or the model itself, does faster.
        whole_ms = float(rows["self_ms"].sum() - rows["outside_ms"].sum())
        most = min(100.0, max(percent, 100 * whole_ms / max(training_ms(evidence), 1e-9)))
        found = _finding(
            f"{model}.{name} is called again and again, for a few examples each: {_units.percent(percent)} of the time",
            f"{_in_code(place, code)}: {_units.milliseconds(starting_ms)} for {_units.count(batches)} batches is spent "
            f"on starting the calls: each sets up an input pipeline of its own.",
            fix,
            percent,
            place,
            itself,
        )
        # What such a call waits for is the beginning of its own pipeline.
        waits = (WAITING,) if set(phases) == {phase} else ()
        yield replace(found, gain_high_percent=at_most(most), instead_of=waits)


def _records(evidence: Evidence) -> Iterator[Finding]:
    """Lines that write: summaries, checkpoints and models."""
    calls = evidence.python.calls
    wrote = _method(calls).isin(_RECORDING_CALLS) & calls["library"].isin(_FRAMEWORKS)
    whole_ms = training_ms(evidence)
    for (function, file), rows in calls[wrote & (calls["thread"] == "main")].groupby(["function", "file"], sort=False):
        time_ms = float(rows["self_ms"].sum() - rows["outside_ms"].sum())
        percent = min(100.0, 100 * time_ms / whole_ms) if whole_ms else 0.0
        if percent < _WORTH_SAYING_PERCENT or rows["samples"].sum() < _MIN_SAMPLES:
            continue
        line, what = int(rows.iloc[0]["line"]), str(rows.iloc[0]["call"]).rpartition(".")[2]
        place, code = place_of(str(file), line), evidence.code.line(str(file), line)
        where = f"{function}: " if function != "<module>" else ""
        yield _finding(
            f"{where}{what}() writes for {_units.percent(percent)} of the time",
            f"{_in_code(place, code)}: {_units.milliseconds(time_ms / max(len(evidence.steps.table), 1))} per step.",
            _rarely(evidence, str(file), line) or "Write less often, for example every 50 steps.",
            percent,
            place,
            "",
        )


def _models(evidence: Evidence) -> Iterator[Finding]:
    """Functions of the user's that copy a model's weights through NumPy, or build models, again and again."""
    calls = evidence.python.calls
    how = _method(calls)
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
        if percent < _WORTH_SAYING_PERCENT or rows["samples"].sum() < _MIN_SAMPLES:
            continue
        top = rows.iloc[int(np.argmax(rows["self_ms"].to_numpy()))]
        place, code = place_of(str(file), int(top["line"])), evidence.code.line(str(file), int(top["line"]))
        does, fix = _MODEL_CALLS[str(top["how"])]
        if does == _COPYING[0] and (copied := copied_weights(evidence.code, str(file), int(top["line"]))):
            fix = fix.replace("target_model", copied.target).replace("model.weights", f"{copied.source}.weights")
            if not copied.mixed:
                fix = fix.replace("tau * source + (1 - tau) * target", "source")
        name = _in_code(place, code) if function == "<module>" else f"{function} ({place})"
        yield _finding(
            f"{name} {does}: {_units.percent(percent)} of the time",
            f"{_units.milliseconds(time_ms / max(len(evidence.steps.table), 1))} per step"
            f"{f', most of it in `{_units.shorten(code, 80)}`' if code and function != '<module>' else ''}.",
            fix,
            percent,
            place,
            "",
            least=_FEWER_SAVED,
        )


def _outside_steps(evidence: Evidence) -> Iterator[Finding]:
    """Functions of the user's, and lines of the cell, that take much of the cell's time before or after its steps."""
    summary = evidence.overview.summary
    whole_ms = float(summary["capture_ms"]) - float(np.nan_to_num(summary["warm_up_steps_ms"]))
    table = evidence.python.table
    table = table[(table["thread"] == "main") & ~table["library"].isin(_FRAMEWORKS) & (table["line"] > 0)]
    own = np.where(table["function"] == "<module>", table["line"], 0)
    where = ", outside the steps" if len(evidence.steps.table) else ""
    left_out = " Warm-up is left out of the share." if summary["warm_up_steps_ms"] > 0 else ""
    for (function, file, _), rows in table.groupby(["function", "file", own], sort=False):
        time_ms = float(rows["outside_ms"].sum())
        percent = 100 * time_ms / whole_ms if whole_ms > 0 else 0.0
        if percent < _WORTH_SAYING_OUTSIDE_PERCENT or rows["samples"].sum() < _MIN_SAMPLES:
            continue
        slowest = rows.iloc[int(np.argmax(rows["outside_ms"].to_numpy()))]
        line, caller = int(slowest["line"]), str(slowest["called_from"])
        place, code = place_of(str(file), line), evidence.code.line(str(file), line)
        if not slowest["library"] and code.startswith(("for ", "while ", "with ")):  # what it takes from is not known
            continue
        name = _in_code(place, code) if function == "<module>" else f"{function} ({place})"
        library = f", mostly in {slowest['library']}" if slowest["library"] else ""
        from_code = evidence.code.at(caller)
        called = f", called from {caller}{f', `{_units.shorten(from_code, 80)}`' if from_code else ''}"
        yield saving(
            percent,
            (0.0, _HIGH_OUTSIDE_PERCENT),
            _LEAST_SAVED,
            finding=f"{name} takes {_units.percent(percent)} of the cell's time{where}",
            evidence=f"{_units.milliseconds(time_ms)}{library}"
            f"{f', in `{_units.shorten(code, 80)}`' if code and function != '<module>' else ''}"
            f"{called if caller and function != '<module>' else ''}.{left_out}",
            fix=_outside_fix(str(slowest["library"]), str(function), evidence.code.at(caller) or code),
            proved_by="python",
            place=place,
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
    table = table[(table["thread"] == "main") & ~table["library"].isin(_FRAMEWORKS) & (table["line"] > 0)]
    heads = [is_head(evidence.code, str(file), line) for file, line in zip(table["file"], table["line"], strict=True)]
    table = table[~(np.array(heads, dtype=bool) & (table["library"] == "").to_numpy())]  # it waits for its items
    own = np.where(table["function"] == "<module>", table["line"], 0)
    for (_, file, _), rows in table.groupby(["function", "file", own], sort=False):
        time_ms = float(rows["nothing_ms"].sum() + rows["between_steps_ms"].sum())
        percent = min(100.0, 100 * time_ms / whole_ms) if whole_ms else 0.0
        if percent >= _WORTH_SAYING_PERCENT and rows["samples"].sum() >= _MIN_SAMPLES:
            finding, use = _function(evidence, str(file), rows, time_ms, percent)
            if not (beside_waits and use == "batch"):  # once nothing waits for results, the steps run meanwhile
                yield finding


def _function(evidence: Evidence, file: str, rows: pd.DataFrame, time_ms: float, percent: float) -> tuple[Finding, Use]:
    """Return the finding, and what the function's value is for."""
    longest = rows.iloc[int(np.argmax((rows["nothing_ms"] + rows["between_steps_ms"]).to_numpy()))]
    line, function, caller = int(longest["line"]), str(longest["function"]), str(longest["called_from"])
    place, code = place_of(file, line), evidence.code.line(file, line)
    name = _in_code(place, code) if function == "<module>" else f"{function} ({place})"
    library = f", mostly in {longest['library']}" if longest["library"] else ""
    calling = caller if function != "<module>" and caller else place
    from_code = evidence.code.at(caller)
    from_code = f", `{_units.shorten(from_code, 80)}`" if from_code else ""
    called = f", called from {caller}{from_code}" if calling == caller else ""
    written = f", in `{_units.shorten(code, 80)}`" if code and function != "<module>" else ""
    use = evidence.code.use(*line_at(calling))
    # It trains or computes: the loop may need what it does. Ops of other threads may run at the same time.
    if use == "record" and float(rows["ops_ms"].sum()) > _OF_OTHERS * float(rows["self_ms"].sum()):
        use = ""
    looping = not longest["library"] and function != "<module>" and evidence.code.in_loop(file, line)
    steps = max(len(evidence.steps.table), 1)
    same = same_call(evidence.code, *line_at(calling), function) if function != "<module>" else ""
    longer = collected(evidence.code, *line_at(calling))
    finding = _finding(
        f"{name} takes {_units.percent(percent)} of the time{', on all that the loop has collected' * bool(longer)}",
        f"{_units.milliseconds(time_ms / steps)} per step{library}{written}{called}: TensorFlow waits meanwhile.",
        (same and _SAME.format(same))
        or (longer and _LONGER.format(" and ".join(longer), _units.shorten(evidence.code.at(calling), 80)))
        or _rarely(evidence, *line_at(calling))
        or _fix_of(use, function, evidence.code.at(calling), place, code, looping=looping),
        percent,
        place,
        "",
        least=_LEAST_SAVED if longer or use in ("record", "validation") else _FEWER_SAVED,
    )
    return finding, use


def _fix_of(use: str, function: str, calling: str, slowest: str, slowest_code: str, *, looping: bool) -> str:
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
        every = f"`{_units.shorten(calling, 80)}` every 50 steps, or once after the loop."
        return f"Nothing in the loop needs its value: do {every}"
    if joined := joined_once(calling):
        return joined
    if _WRITES.search(slowest_code):
        return f"Write less often: `{_units.shorten(slowest_code, 80)}` once after the loop, or every 50 steps."
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


def _rarely(evidence: Evidence, file: str, line: int) -> str:
    """Say which condition lets a line run too often; empty if there is none."""
    guard, condition = evidence.code.guard(file, line)
    return _raised(evidence, file, guard, condition) if guard else ""


def _raised(evidence: Evidence, file: str, line: int, condition: str) -> str:
    """Say which number of a condition to raise."""
    divisor = evidence.code.divisor(file, line)
    raised = divisor if divisor.replace(".", "").isidentifier() else "the number"
    return f"Let it run less often: raise {raised} in `{condition}` ({place_of(file, line)})."


def _every(calls: int) -> int:
    """Return a number of calls of which one is enough: a few of those that were captured are left."""
    return next((every for every in (50, 20, 10, 5) if every * _LEFT <= calls), 5)


def _finding(
    finding: str, evidence: str, fix: str, percent: float, place: str, change: str, least: float = _LEAST_SAVED
) -> Finding:
    return saving(
        min(percent, 100.0),
        (_WORTH_SAYING_PERCENT, _HIGH_PERCENT),
        least,
        finding=finding,
        evidence=evidence,
        fix=fix,
        proved_by="python",
        place=place,
        change=change,
    )


def training_ms(evidence: Evidence) -> float:
    """Return the time from each host's first step to its last, without warm-up steps; with them if there are no others.

    Warm-up steps are much longer: in shares of their time, nothing that runs in every step would matter.
    """
    table = evidence.steps.table
    if table.empty:
        return 0.0
    spans = table.assign(end_ms=table["start_ms"] + table["step_ms"]).groupby("host")
    whole_ms = float((spans["end_ms"].max() - spans["start_ms"].min()).sum())
    return whole_ms - (0.0 if table["warm_up"].all() else float(table.loc[table["warm_up"], "step_ms"].sum()))


def _method(calls: pd.DataFrame) -> pd.Series:
    """Return the last part of what each line called."""
    return calls["call"].astype(str).str.replace(r".*\.", "", regex=True)


def _place_of_function(evidence: Evidence, name: str) -> str:
    """Return the place of a function's line with the most time, if the samples have the function."""
    table = evidence.python.table
    rows = table[(table["function"] == name) | table["function"].str.endswith(f".{name}")]
    return place_of(str(rows.iloc[0]["file"]), int(rows.iloc[0]["line"])) if len(rows) else ""


def _in_code(place: str, code: str) -> str:
    return f"`{_units.shorten(code, 80)}` ({place})" if code else f"The line at {place}"
