"""What else needs from a callback's method, so that it cannot run less often; and what a callback is given."""

import ast
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import arguments, name_of

_LOGS = 2  # of the parameters: self, the number of the epoch or batch, logs
_WRITING = ("update", "setdefault", "__setitem__")
_CHANGING_MODELS = {
    *("assign", "assign_add", "assign_sub", "load_weights", "save_own_variables", "set_value", "set_weights"),
    *("stop_training", "apply_gradients", "trainable", "compile"),
}
_RATES = ("learning_rate", "lr", "stop_training", "trainable")


class Needed(NamedTuple):
    """The keys that a method writes into ``logs``; whether it changes the model; whether it may do either unseen."""

    keys: list[str]
    changes_model: bool
    unknown: bool


def needed(code: Code, file: str, line: int) -> Needed:
    r"""Return what others need of each call of the method that begins at a line.

    Examples
    --------
    >>> text = "def on_epoch_end(self, epoch, logs=None):\n    logs['bleu'] = f()\n    self.model.stop_training = True"
    >>> needed(Code({"cell": text}), "cell", 1)
    Needed(keys=['bleu'], changes_model=True, unknown=False)
    >>> needed(Code({"cell": "def on_epoch_end(self, epoch, logs=None):\n    self.score(logs)"}), "cell", 1)
    Needed(keys=[], changes_model=False, unknown=True)
    """
    function = code.function_at(file, line)
    if function is None:
        return Needed([], changes_model=False, unknown=True)
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
    return Needed([*keys], changes, unknown)


class Given(NamedTuple):
    """A keyword that a single call of a class in the program is given: the file, the line of its value, the value."""

    file: str
    line: int
    value: ast.expr


def given_to(code: Code, name: str, keyword: str) -> Given | None:
    r"""Return what the only call of a class that gives a keyword gives for it; None if none does, or several may.

    Examples
    --------
    >>> found = given_to(Code({"cell": "board = Board(\n    logs,\n    often=1)\nBoard(logs)"}), "Board", "often")
    >>> found.line, ast.unparse(found.value)
    (3, '1')
    """
    calls = [(file, one) for file in code.files for one in code.nodes(file, ast.Call) if name_of(one.func) == name]
    giving = [(file, one) for file, call in calls for one in call.keywords if one.arg in (keyword, None)]
    if len(giving) != 1 or giving[0][1].arg is None:
        return None
    file, found = giving[0]
    return Given(file, found.value.lineno, found.value)


def _key(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _keys(call: ast.Call) -> list[str]:
    """Return the keys that a call of ``logs.update`` or ``logs.setdefault`` writes."""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Dict):
        return [_key(key) for key in first.keys if key]
    named = [keyword.arg for keyword in call.keywords if keyword.arg]
    return named or ([_key(first)] if first else [])
