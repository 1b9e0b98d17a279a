"""What a loop asks of a TensorFlow 1 session: ops that it adds to the graph, runs that could be one."""

import ast
import re
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import assigned_name, calls_in, holds, name_of, names_in, stored_in

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
    adding = [call for call in calls_in(loop) if _adds(call)]
    inner = {id(part) for one in adding for part in ast.walk(one) if part is not one}
    outermost = [one for one in adding if id(one) not in inner]
    at_line = [one for one in outermost if holds(one, line)]
    found = next(iter(at_line or outermost), None)
    if found is None:
        return None
    read = names_in(found, ast.Load) & stored_in(loop)
    assigned = (node for node in ast.walk(loop) if isinstance(node, ast.Assign) and node.value in outermost)
    ops = {assigned_name(one) for one in assigned}
    return AddedOp(found.lineno, ast.unparse(found), sorted(read - ops), sorted(read & ops))


def _called_in_loop(code: Code, file: str, line: int) -> ast.stmt | None:
    function = code.function(file, line)
    calls = ((other, call) for other in code.files for call in code.nodes(other, ast.Call))
    called = any(
        function and name_of(call.func) == function.name and code.loop(other, call.lineno) for other, call in calls
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
    runs = code.calls(file, line, "run", "eval")
    return not runs or any(len(one.args) > (name_of(one.func) == "run") or one.keywords for one in runs)


class Runs(NamedTuple):
    """Runs of a session in one block that could be one: their lines, and the code of the one."""

    lines: list[int]
    code: str


def runs_as_one(code: Code, file: str, line: int) -> Runs | None:
    r"""Return the runs that a loop makes, one of them at a line, of one session that is fed the same; None for others.

    Examples
    --------
    >>> text = "for x in data:\n  s.run(train, {x_: x})\n  a, b = s.run([loss, rate], {x_: x})\n  s.run(best, {x_: 1})"
    >>> runs_as_one(Code({"cell": text}), "cell", 3)
    Runs(lines=[2, 3], code='_, a, b = s.run([train, loss, rate], {x_: x})')
    >>> runs_as_one(Code({"cell": text}), "cell", 4)
    """
    statement = code.statement(file, line)
    if statement is None or code.loop(file, line) is None or (own := _run_of(statement)) is None:
        return None
    told = ast.unparse(own.func), [ast.unparse(one) for one in (*own.args[1:], *own.keywords)]
    found: list[tuple[ast.stmt, ast.Call]] = []
    for one in code.block(file, statement):
        run = _run_of(one)
        alike = run is not None and told == (
            ast.unparse(run.func),
            [ast.unparse(each) for each in (*run.args[1:], *run.keywords)],
        )
        if run is not None and alike:
            found.append((one, run))
        elif found and (names_in(one, ast.Store) & names_in(own, ast.Load) or _run_of(one) is not None):
            break  # what is fed changes, or something else runs in between
    if len(found) < 2 or all(one is not statement for one, _ in found):
        return None
    fetched = [name for _, run in found for name in _elements(run.args[0])]
    targets = [name for one, run in found for name in _targets(one, len(_elements(run.args[0])))]
    if len(targets) != len(fetched):
        return None
    given = ", ".join([f"[{', '.join(fetched)}]", *told[1]])
    return Runs([one.lineno for one, _ in found], f"{', '.join(targets)} = {told[0]}({given})")


def _run_of(statement: ast.stmt) -> ast.Call | None:
    """Return the run of a session that a statement is, if ops that are there are fetched."""
    call = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    if not isinstance(call, ast.Call) or name_of(call.func) != "run" or not call.args:
        return None
    return None if any(calls_in(call.args[0])) else call


def _elements(node: ast.expr) -> list[str]:
    return [ast.unparse(one) for one in (node.elts if isinstance(node, ast.List | ast.Tuple) else [node])]


def _targets(statement: ast.stmt, count: int) -> list[str]:
    """Return the names that a statement gives what it fetches; ``_`` if it gives none."""
    if not isinstance(statement, ast.Assign):
        return ["_"] * count
    return _elements(statement.targets[0]) if len(statement.targets) == 1 else []
