import ast
import math
import re
from typing import NamedTuple

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at
from tfprof_nb.analysis.advice.findings import at_most
from tfprof_nb.analysis.advice.rules.python._callbacks import methods
from tfprof_nb.analysis.advice.rules.python._time import LEAST_SAVED, every_few, guard_in, raised
from tfprof_nb.analysis.source.code import Code, place_of
from tfprof_nb.analysis.source.rewriting import with_value
from tfprof_nb.analysis.source.syntax import arguments, name_of

_MUCH_TRACED = 0.1  # of a method's time
_LOGS = 2  # of the parameters: self, the number of the epoch or batch, logs
_WRITING = ("update", "setdefault", "__setitem__")
_CHANGING_MODELS = {
    *("assign", "assign_add", "assign_sub", "load_weights", "save_own_variables", "set_value", "set_weights"),
    *("stop_training", "apply_gradients", "trainable", "compile"),
}
_RATES = ("learning_rate", "lr", "stop_training", "trainable")
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
    "Looks for methods of callbacks that take a tenth or more of each step, or of the training.",
    "Keras waits for callbacks: what runs after each batch makes every step longer.",
    action="Let the callback do its work less often",
    explains=("callback",),
    page="python",
    high=25.0,
    of="training",
    after=("predict-in-callback",),
    measured=True,
    results="equal",
)


class _Needed(NamedTuple):
    """The keys that a method writes into ``logs``; whether it changes the model; whether it may do either unseen."""

    keys: list[str]
    changes_model: bool
    unknown: bool


class _Given(NamedTuple):
    """A keyword that a single call of a class in the program is given: the file, the line of its value, the value."""

    file: str
    line: int
    value: ast.expr


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    told = {finding.subject for finding in earlier["predict-in-callback"]}
    for method in methods(evidence):
        if method.name in told:
            continue
        callback = str(method.row["callback"])
        place = _place_of_function(evidence, method.name)
        if callback in _OF_KERAS:
            (fix, defined, change), part = _default(evidence, callback, method.row["method"]), 1.0
        else:
            calls = int(method.row["calls"])
            fix, defined, change = _rarer(evidence, callback, method.row["method"], calls)
            trainings = _trainings(evidence, calls) if method.row["method"] == "on_epoch_end" else 1
            part = 1 - trainings * math.ceil(calls / trainings / every_few(calls)) / calls  # of the calls
        made = next(evidence.code.find(rf"\b{re.escape(callback)}\("), None)
        place = place or (place_of(*made) if made else "")
        traced_ms = _traced_ms(evidence, method.name)
        share = traced_ms / method.row["total_ms"]
        traced = f" {_units.milliseconds(traced_ms)} of it is tracing, which fewer calls do not save."
        rest = max(0.0, 1 - share) * part
        yield Case(
            method.percent,
            finding=method.takes,
            evidence=f"{method.ran}{at(place)}.{traced * (share >= _MUCH_TRACED)}",
            fix=fix,
            place=defined or place,
            change=change,
            severity=method.severity,
            gain=(method.percent, LEAST_SAVED * rest * method.percent, at_most(rest * method.percent)),
            subject=method.name,
        )


def _traced_ms(evidence: Evidence, method: str) -> float:
    """Return how long functions were traced while a method ran."""
    tree = evidence.breakdown().table
    within = tree["parent"].str.endswith(f"/callback:{method}") & tree["kind"].isin(("trace", "compile"))
    return float(tree.loc[within, "total_ms"].sum())


def _trainings(evidence: Evidence, calls: int) -> int:
    """Return how many trainings a method's calls at ends of epochs are of: epochs are counted anew in each."""
    tree = evidence.breakdown().table
    trainings = tree.loc[(tree["kind"] == "phase") & tree["name"].str.startswith("train"), "count"].sum()
    return max(1, min(int(trainings), calls))


def _default(evidence: Evidence, callback: str, method: str) -> tuple[str, str, str]:
    """Return which argument lets a callback of Keras work often, in words, with the place and the code without."""
    names, otherwise = _OF_KERAS[callback]
    for name in names:
        given = _given_to(evidence.code, callback, name)
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
    others = _needed(evidence.code, file, line)
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


def _needed(code: Code, file: str, line: int) -> _Needed:
    r"""Return what others need of each call of the method that begins at a line.

    Examples
    --------
    >>> text = "def on_epoch_end(self, epoch, logs=None):\n    logs['bleu'] = f()\n    self.model.stop_training = True"
    >>> _needed(Code({"cell": text}), "cell", 1)
    _Needed(keys=['bleu'], changes_model=True, unknown=False)
    >>> _needed(Code({"cell": "def on_epoch_end(self, epoch, logs=None):\n    self.score(logs)"}), "cell", 1)
    _Needed(keys=[], changes_model=False, unknown=True)
    """
    function = code.function_at(file, line)
    if function is None:
        return _Needed([], changes_model=False, unknown=True)
    parameters = [one.arg for one in function.args.args]
    logs = parameters[_LOGS] if len(parameters) > _LOGS else "logs"
    keys, changes, unknown = dict[str, None](), False, False
    for one in ast.walk(function):
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store) and name_of(one.value) == logs:
            keys[_key(one.slice)] = None
        elif isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and one.attr in _RATES:
            changes = True
        elif isinstance(one, ast.Call):
            called = name_of(one.func)
            of_logs = isinstance(one.func, ast.Attribute) and name_of(one.func.value) == logs
            if of_logs and called in _WRITING:
                keys.update(dict.fromkeys(_keys(one)))
            changes |= called in _CHANGING_MODELS
            unknown |= not of_logs and any(isinstance(given, ast.Name) and given.id == logs for given in arguments(one))
    return _Needed([*keys], changes, unknown)


def _given_to(code: Code, name: str, keyword: str) -> _Given | None:
    r"""Return what the only call of a class that gives a keyword gives for it; None if none does, or several may.

    Examples
    --------
    >>> found = _given_to(Code({"cell": "board = Board(\n    logs,\n    often=1)\nBoard(logs)"}), "Board", "often")
    >>> found.line, ast.unparse(found.value)
    (3, '1')
    """
    calls = [(file, one) for file in code.files for one in code.nodes(file, ast.Call) if name_of(one.func) == name]
    giving = [(file, one) for file, call in calls for one in call.keywords if one.arg in (keyword, None)]
    if len(giving) != 1 or giving[0][1].arg is None:
        return None
    file, found = giving[0]
    return _Given(file, found.value.lineno, found.value)


def _key(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _keys(call: ast.Call) -> list[str]:
    """Return the keys that a call of ``logs.update`` or ``logs.setdefault`` writes."""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Dict):
        return [_key(key) for key in first.keys if key]
    named = [keyword.arg for keyword in call.keywords if keyword.arg]
    return named or ([_key(first)] if first else [])
