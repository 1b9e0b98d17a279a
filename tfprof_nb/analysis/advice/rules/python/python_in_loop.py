"""Python in the loop of the steps that takes much of the time."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.findings import in_code, quoted
from tfprof_nb.analysis.advice.rule import Case, Cases, Earlier, Rule
from tfprof_nb.analysis.advice.rules.python._time import (
    CALLBACKS,
    FEWER_SAVED,
    LEAST_SAVED,
    MIN_SAMPLES,
    joined_once,
    loop_of_steps,
    rarely,
)
from tfprof_nb.analysis.python import FRAMEWORKS, STARTS_STEPS
from tfprof_nb.analysis.source.calls import same_call
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.loops import collected, is_head
from tfprof_nb.analysis.source.syntax import holds
from tfprof_nb.analysis.source.uses import Use, use_of

_OF_MODELS = ("weights-through-numpy", "model-rebuilt-each-step")
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
_OF_OTHERS = 0.1
_TELLS_MORE = 1.2  # than any function by itself
_NAMED = 2
_OTHER_THREADS = "threading"  # a line that is in it, as in `thread.join()`, waits for what others compute
_OFTEN_ENOUGH = "every 50 steps"

RULE = Rule(
    "python-in-loop",
    "Python in the loop of the steps takes much of the time",
    "Looks for functions, and lines of the cell, that run in or between the steps while TensorFlow records nothing.",
    "The program runs one thing at a time: while its Python computes, no step does.",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    within=CALLBACKS,
    after=(*_OF_MODELS, "sync-each-step"),
    saved=(FEWER_SAVED, None),
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    """Functions of the user's, and lines of the cell, that run while TensorFlow records nothing."""
    whole_ms = training_ms(evidence)
    named = {finding.subject for name in _OF_MODELS for finding in earlier[name]}
    found = list[tuple[Case, Use]]()
    table = evidence.python.table
    computes = ~table["library"].isin((*FRAMEWORKS, _OTHER_THREADS))
    table = table[(table["thread"] == "main") & computes & (table["line"] > 0)]
    heads = [is_head(evidence.code, str(file), line) for file, line in zip(table["file"], table["line"], strict=True)]
    table = table[~(np.array(heads, dtype=bool) & (table["library"] == "").to_numpy())]  # it waits for its items
    own = np.where(table["function"] == "<module>", table["line"], 0)
    for (_, file, _), rows in table.groupby(["function", "file", own], sort=False):
        time_ms = float(rows["nothing_ms"].sum() + rows["between_steps_ms"].sum())
        percent = min(100.0, 100 * time_ms / whole_ms) if whole_ms else 0.0
        if rows["samples"].sum() >= MIN_SAMPLES:
            case, use = _function(evidence, str(file), rows, time_ms, percent)
            # Once nothing waits for results, the steps run meanwhile.
            if case.subject not in named and not (earlier["sync-each-step"] and use == "batch"):
                found.append((case, use))
    making = _making_batches(evidence, found)
    if making and not earlier["sync-each-step"]:
        yield making
    yield from (case for case, _ in found)


def _making_batches(evidence: Evidence, found: Sequence[tuple[Case, Use]]) -> Case | None:
    """Return the line beside the step whose function makes its batch, if that takes more than what is known of it."""
    rows, whole_ms = evidence.python.nested, training_ms(evidence)
    rows = rows[(rows["called"] != "") & (rows["python_ms"] > 0)].sort_values("python_ms", ascending=False)
    known = max((case.percent for case, use in found if use), default=0.0)
    for row in rows.to_dict("records"):
        file, line = str(row["file"]), int(row["line"])
        percent = min(100.0, 100 * row["python_ms"] / max(whole_ms, 1e-9))
        if percent < max(RULE.moderate, _TELLS_MORE * known):
            return None
        if not (use_of(evidence.code, file, line) == "batch" and _beside_a_step(evidence, file, line)):
            continue
        below = [case for case, _ in found if case.percent <= percent]
        place, name = place_of(file, line), str(row["called"]).rpartition(".")[2]
        most = " and ".join(f"{case.subject} ({case.place})" for case in below[:_NAMED])
        return Case(
            percent,
            finding=f"{in_code(place, evidence.code.line(file, line))} takes {evidence.of_training(percent)}",
            evidence=f"{_units.milliseconds(row['python_ms'])} in all{f', most of it in {most}' * bool(most)}: "
            "the model waits meanwhile.",
            fix=_fix_of("batch", name, evidence.code.at(place), place, "", looping=False),
            place=place,
            saved=(FEWER_SAVED, min(percent, 100 - percent) / percent),
            subject=str(row["called"]),
            instead_of=tuple((RULE.id, case.place) for case in below),
        )
    return None


def _beside_a_step(evidence: Evidence, file: str, line: int) -> bool:
    """Whether the innermost loop around a line also runs steps of the model."""
    loop, calls = evidence.code.loop(file, line), evidence.python.calls
    calls = calls[(calls["file"] == file) & calls["call"].astype(str).str.contains(STARTS_STEPS)]
    return loop is not None and any(holds(loop, other) for other in calls["line"])


def _function(evidence: Evidence, file: str, rows: pd.DataFrame, time_ms: float, percent: float) -> tuple[Case, Use]:
    """Return the case, and what the function's value is for."""
    longest = rows.iloc[int(np.argmax((rows["nothing_ms"] + rows["between_steps_ms"]).to_numpy()))]
    line, function, caller = int(longest["line"]), str(longest["function"]), str(longest["called_from"])
    place, code = place_of(file, line), evidence.code.line(file, line)
    name = in_code(place, code) if function == "<module>" else f"{function} ({place})"
    library = f", mostly in {longest['library']}" if longest["library"] else ""
    calling = caller if function != "<module>" and caller else place
    from_code = evidence.code.at(caller)
    from_code = f", {quoted(from_code)}" if from_code else ""
    called = f", called from {caller}{from_code}" if calling == caller else ""
    written = f", in {quoted(code)}" if code and function != "<module>" else ""
    use = use_of(evidence.code, *line_at(calling))
    # It trains or computes: the loop may need what it does. Ops of other threads may run at the same time.
    if use == "record" and float(rows["ops_ms"].sum()) > _OF_OTHERS * float(rows["self_ms"].sum()):
        use = ""
    looping = not longest["library"] and function != "<module>" and evidence.code.in_loop(file, line)
    phases = evidence.steps.table["phase"]
    steps = int((phases == "train").sum()) or max(len(phases), 1)
    same = same_call(evidence.code, *line_at(calling), function) if function != "<module>" else ""
    longer = collected(evidence.code, *line_at(calling))
    loop = loop_of_steps(evidence, *line_at(calling))
    every = f"in few passes of {quoted(loop, 60)} only" if loop else _OFTEN_ENOUGH
    taken = f"{_units.milliseconds(time_ms)} in all" if loop else f"{_units.milliseconds(time_ms / steps)} per step"
    case = Case(
        percent,
        finding=f"{name} takes {evidence.of_training(percent)}{', on all that the loop has collected' * bool(longer)}",
        evidence=f"{taken}{library}{written}{called}: the model waits meanwhile.",
        fix=(same and _SAME.format(same))
        or (longer and _longer(longer, evidence.code.at(calling), every, "pass" if loop else "step"))
        or rarely(evidence, *line_at(calling))
        or _fix_of(use, function, evidence.code.at(calling), place, code, looping=looping, every=every),
        place=place,
        saved=(LEAST_SAVED if longer or use in ("record", "validation") else FEWER_SAVED, None),
        subject=place if function == "<module>" else function,
    )
    return case, use


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
        return f"Nothing in the loop needs its value: do {quoted(calling)} {every}, or once after the loop."
    if joined := joined_once(calling):
        return joined
    if _WRITES.search(slowest_code):
        return f"Write less often: {quoted(slowest_code)} once after the loop, or {every}."
    inside = f", where {slowest} takes most of its time" if function != "<module>" else ""
    whole = " NumPy on whole arrays takes a fraction of the time of a loop in Python." * looping
    return f"Make {what} faster{inside}, or do it less often if the loop allows that.{whole}"
