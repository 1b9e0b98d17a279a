"""A callback that takes much of the steps, or of the training."""

import ast
import re

from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import Case, Cases, Earlier, Rule
from tfprof_nb.analysis.advice.rules.python._callbacks import methods
from tfprof_nb.analysis.advice.rules.python._time import LEAST_SAVED, every_few, raised
from tfprof_nb.analysis.advice.wording import at
from tfprof_nb.analysis.source.callbacks import given_to, needed
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.guards import guard_in
from tfprof_nb.analysis.source.rewriting import with_value

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

RULE = Rule(
    "slow-callback",
    "A callback takes much of the steps or of the training",
    "Looks for methods of callbacks that take a tenth and more of each step, or of the training.",
    "Keras waits for callbacks: what runs after each batch makes every step longer.",
    action="Let the callback do its work less often",
    explains=("callback",),
    page="python",
    high=25.0,
    of="training",
    saved=(LEAST_SAVED, None),
    after=("predict-in-callback",),
    results="equal",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    """Name the callbacks that take much of each step, or of the training."""
    told = {finding.subject for finding in earlier["predict-in-callback"]}
    for method in methods(evidence):
        if method.name in told:
            continue
        callback = str(method.row["callback"])
        place = _place_of_function(evidence, method.name)
        if callback in _OF_KERAS:
            fix, defined, change = _default(evidence, callback, method.row["method"])
        else:
            fix, defined, change = _rarer(evidence, callback, method.row["method"], int(method.row["calls"]))
        made = next(evidence.code.find(rf"\b{re.escape(callback)}\("), None)
        place = place or (place_of(*made) if made else "")
        yield Case(
            method.percent,
            finding=method.takes,
            evidence=f"{method.ran}{at(place)}.",
            fix=fix,
            place=defined or place,
            change=change,
            severity=method.severity,
            subject=method.name,
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
        fix = f"With {name}={value} it {does} {often}. Instead: `{name}={default}`{rarer}."
        return fix, place_of(*given[:2]), change
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
