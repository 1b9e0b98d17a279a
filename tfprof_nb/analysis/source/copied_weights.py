"""Weights that a program copies from one model into another, in code."""

from __future__ import annotations

import ast
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import scopes


class Copied(NamedTuple):
    """The model that gets weights, the one that gives them, and whether both are mixed."""

    target: str
    source: str
    mixed: bool


def copied_weights(code: Code, file: str, line: int) -> Copied | None:
    r"""Return which models the function with a line, or without one the file, copies weights between; None if unclear.

    Examples
    --------
    >>> text = "def sync(tau):\n    w = [tau * a + b for a, b in zip(net.get_weights(), slow.get_weights())]\n"
    >>> copied_weights(Code({"cell": text + "    slow.set_weights(w)"}), "cell", 3)
    Copied(target='slow', source='net', mixed=True)
    >>> copied_weights(Code({"cell": "target.set_weights(net.get_weights())"}), "cell", 1)
    Copied(target='target', source='net', mixed=False)
    """
    scope = scopes(code.syntax(file), line)[0]
    called = [node.func for node in ast.walk(scope) if isinstance(node, ast.Call)]
    methods = [(one.attr, ast.unparse(one.value)) for one in called if isinstance(one, ast.Attribute)]
    read, written = ({owner for name, owner in methods if name == method} for method in ("get_weights", "set_weights"))
    if len(written) != 1 or len(read - written) != 1:
        return None
    (target,), (source,) = written, read - written
    return Copied(target, source, target in read)
