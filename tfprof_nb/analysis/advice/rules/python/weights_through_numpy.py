from __future__ import annotations

import ast
from typing import NamedTuple

from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.python._models import COPYING, working
from tfprof_nb.analysis.advice.rules.python._time import CALLBACKS, FEWER_SAVED
from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import calls_in, scope_of

_FIX = (
    "Assign variable to variable in a function with @tf.function, for example: `for target, source in "
    "zip(target_model.weights, model.weights): target.assign(tau * source + (1 - tau) * target)`."
)
_FIX_OF_ARRAYS = (
    "Take the shapes from the variables: `get_weights` copies every weight. Assign the new values in a function with "
    "@tf.function that gets them: `for variable, value in zip({model}.weights, values): variable.assign(value)`."
)

RULE = Rule(
    "weights-through-numpy",
    "Weights are copied through NumPy",
    "Looks for functions that copy a model's weights by `get_weights` and `set_weights`, as for a target network.",
    "Each weight is copied to an array and back, by eager ops.",
    action="Assign the variables in a graph",
    page="python",
    moderate=10.0,
    high=25.0,
    of="training",
    within=CALLBACKS,
    saved=(FEWER_SAVED, None),
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    for one in working(evidence, COPYING):
        fix, models = _FIX, _models(evidence.code, one.file, one.line)
        if copied := _copied_weights(models):
            fix = fix.replace("target_model", copied.target).replace("model.weights", f"{copied.source}.weights")
            if not copied.mixed:
                fix = fix.replace("tau * source + (1 - tau) * target", "source")
        elif len(models.written) == 1 and not models.read - models.written:
            fix = _FIX_OF_ARRAYS.format(model=next(iter(models.written)))
        yield Case(
            one.percent,
            finding=f"{one.name} copies weights through NumPy: {evidence.of_training(one.percent)}",
            evidence=one.shown,
            fix=fix,
            place=one.place,
            subject=one.subject,
            instead_of=(("eager-ops", one.subject),),  # weights are assigned by ops of their own
        )


class _Models(NamedTuple):
    """The models whose weights are ``read`` and ``written``."""

    read: set[str]
    written: set[str]


class Copied(NamedTuple):
    """The model that gets weights, the one that gives them, and whether both are mixed."""

    target: str
    source: str
    mixed: bool


def _copied_weights(models: _Models) -> Copied | None:
    r"""Return which models weights are copied between; None if unclear.

    Examples
    --------
    >>> text = "def sync(tau):\n    w = [tau * a + b for a, b in zip(net.get_weights(), slow.get_weights())]\n"
    >>> _copied_weights(_models(Code({"cell": text + "    slow.set_weights(w)"}), "cell", 3))
    Copied(target='slow', source='net', mixed=True)
    >>> _copied_weights(_models(Code({"cell": "target.set_weights(net.get_weights())"}), "cell", 1))
    Copied(target='target', source='net', mixed=False)
    """
    read, written = models
    if len(written) != 1 or len(read - written) != 1:
        return None
    (target,), (source,) = written, read - written
    return Copied(target, source, target in read)


def _models(code: Code, file: str, line: int) -> _Models:
    r"""Return the models that the function with a line, or without one the file, reads and writes.

    Examples
    --------
    >>> text = "def put(flat):\n    net.set_weights(split(flat, [w.shape for w in net.get_weights()]))"
    >>> _models(Code({"cell": text}), "cell", 2)
    _Models(read={'net'}, written={'net'})
    """
    called = [call.func for call in calls_in(scope_of(code.syntax(file), line))]
    methods = [(one.attr, ast.unparse(one.value)) for one in called if isinstance(one, ast.Attribute)]
    return _Models(*({owner for name, owner in methods if name == method} for method in COPYING))
