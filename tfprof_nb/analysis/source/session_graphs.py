"""Ops that a loop adds to the graph of a TensorFlow 1 session."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import assigned_name, holds, name_of, names_in

# Methods of variables and optimizers that add ops, and functions of TensorFlow's modules that add none.
_ADDING = ("assign", "assign_add", "assign_sub", "minimize", "apply_gradients", "compute_gradients")
_ADDS_NONE = re.compile(
    r"(?:^|\.)(?:[A-Z]\w*|get_\w+|as_\w+|set_\w+|reset_\w+|\w*variables|\w*_scope|device|latest_checkpoint|gfile\..*|"
    r"io\..*|summary\.FileWriter.*|logging\..*|disable_\w+|enable_\w+|control_dependencies)$"
)


class AddedOp(NamedTuple):
    """The line and code of an expression that adds ops in each pass, what changes in it, and ops that it takes."""

    line: int
    code: str
    changing: list[str]
    ops: list[str]


def added_in_loop(code: Code, file: str, line: int) -> AddedOp | None:
    r"""Return what the loop around a line adds to the graph, at that line if it does so there; None for nothing.

    Examples
    --------
    >>> text = "for x in data:\n    a = sess.run(tf.reduce_mean(loss), {x_: x})\n    sess.run(w.assign(x))"
    >>> added_in_loop(Code({"cell": text}), "cell", 2)
    AddedOp(line=2, code='tf.reduce_mean(loss)', changing=[], ops=[])
    >>> added_in_loop(Code({"cell": text}), "cell", 3)
    AddedOp(line=3, code='w.assign(x)', changing=['x'], ops=[])
    >>> text = "for x in data:\n    right = tf.equal(y, 1)\n    sess.run(tf.reduce_mean(right))"
    >>> added_in_loop(Code({"cell": text}), "cell", 3)
    AddedOp(line=3, code='tf.reduce_mean(right)', changing=[], ops=['right'])
    >>> text = "def decay(step):\n    sess.run(rate.assign(0.9 ** step))\nfor step in n:\n    decay(step)"
    >>> added_in_loop(Code({"cell": text}), "cell", 2)
    AddedOp(line=2, code='rate.assign(0.9 ** step)', changing=['step'], ops=[])
    >>> added_in_loop(Code({"cell": "for x in data:\n    sess.run(train, {x_: x})"}), "cell", 2)
    """
    loop = code.loop(file, line) or _called_in_loop(code, file, line)
    if loop is None:
        return None
    adding = [one for one in ast.walk(loop) if isinstance(one, ast.Call) and _adds(one)]
    inner = {id(part) for one in adding for part in ast.walk(one) if part is not one}
    outermost = [one for one in adding if id(one) not in inner]
    at_line = [one for one in outermost if holds(one, line)]
    found = next(iter(at_line or outermost), None)
    if found is None:
        return None
    given = {one.arg for one in ast.walk(loop) if isinstance(one, ast.arg)}
    read = names_in(found, ast.Load) & (names_in(loop, ast.Store) | given)
    assigned = (one for one in ast.walk(loop) if isinstance(one, ast.Assign) and one.value in outermost)
    ops = {assigned_name(one) for one in assigned}
    return AddedOp(found.lineno, ast.unparse(found), sorted(read - ops), sorted(read & ops))


def _called_in_loop(code: Code, file: str, line: int) -> ast.stmt | None:
    around = [one for one in code.nodes(file, ast.FunctionDef) if one.lineno < line and holds(one, line)]
    function = max(around, key=lambda one: one.lineno, default=None)
    calls = ((other, one) for other in code.files for one in code.nodes(other, ast.Call))
    called = any(
        function and name_of(one.func) == function.name and code.loop(other, one.lineno) for other, one in calls
    )
    return function if called else None


def _adds(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    called = ast.unparse(call.func)
    module, _, function = called.partition(".")
    if re.fullmatch(r"tf\d?|tensorflow|K", module):
        return not _ADDS_NONE.search(function)
    return name_of(call.func) in _ADDING


def feeds(code: Code, file: str, line: int) -> bool:
    r"""Whether a session's run at a line may be given values: it is, or its code is not known.

    Examples
    --------
    >>> code = Code({"cell": "sess.run(train, {x: 1})\nsess.run(fetched)"})
    >>> feeds(code, "cell", 1), feeds(code, "cell", 2)
    (True, False)
    """
    runs = [one for one in code.nodes(file, ast.Call) if name_of(one.func) in ("run", "eval") and holds(one, line)]
    return not runs or any(len(one.args) > (name_of(one.func) == "run") or one.keywords for one in runs)
