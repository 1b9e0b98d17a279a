"""Sorted tensors of which a program keeps only the first, in code."""

from __future__ import annotations

import ast

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import assigned_name, holds, name_of, scopes


def only_first(code: Code, file: str, line: int) -> str:
    r"""Return a line that sorts with `tf.math.top_k` instead, if its only use is to take the first of the last axis.

    Examples
    --------
    >>> code = Code({"cell": "order = tf.argsort(s, direction='DESCENDING')\nbest = order[:, :k]"})
    >>> only_first(code, "cell", 1)
    'order = tf.math.top_k(s, k=k).indices'
    >>> only_first(Code({"cell": "near = tf.gather(x, tf.argsort(d)[:5])"}), "cell", 1)
    'near = tf.gather(x, tf.math.top_k(-d, k=5).indices[:5])'
    >>> only_first(Code({"cell": "order = tf.argsort(s)\nprint(order)"}), "cell", 1)
    ''
    """
    statement = code.statement(file, line)
    calls = [one for one in code.nodes(file, ast.Call) if name_of(one.func) in ("sort", "argsort") and holds(one, line)]
    if statement is None or len(calls) != 1 or statement.lineno != statement.end_lineno or not calls[0].args:
        return ""
    call, scope = calls[0], scopes(code.syntax(file), line)[0]
    name = assigned_name(statement) if isinstance(statement, ast.Assign) and statement.value is call else ""
    numbers = {_first_of(node) for node in ast.walk(scope) if _is_part_of(node, call, name)}
    uses = sum(isinstance(one, ast.Name) and one.id == name for one in ast.walk(scope)) - 1 if name else 1
    parts = sum(_is_part_of(node, call, name) for node in ast.walk(scope))
    new = _top(call, numbers.pop()) if len(numbers) == 1 and parts == uses else ""
    if not new:
        return ""
    before = code.line(file, line).encode()
    begin, end = (at - statement.col_offset for at in (call.col_offset, call.end_col_offset or 0))
    return (before[:begin] + new.encode() + before[end:]).decode()


def _is_part_of(node: ast.AST, call: ast.Call, name: str) -> bool:
    """Whether code takes a part of what a call returns, itself or by its name."""
    if not isinstance(node, ast.Subscript):
        return False
    return node.value is call or (isinstance(node.value, ast.Name) and node.value.id == name and bool(name))


def _first_of(node: ast.AST) -> str:
    """Return how many of the last axis a part has, the first ones; empty for other parts."""
    places = node.slice if isinstance(node, ast.Subscript) else None
    last = places.elts[-1] if isinstance(places, ast.Tuple) and places.elts else places
    if not isinstance(last, ast.Slice) or last.lower is not None or last.step is not None or last.upper is None:
        return ""
    plain = isinstance(last.upper, ast.Name | ast.Attribute) or (
        isinstance(last.upper, ast.Constant) and isinstance(last.upper.value, int)
    )
    return ast.unparse(last.upper) if plain else ""


def _top(call: ast.Call, number: str) -> str:
    """Return the call that finds the first of a sorted tensor; empty if another axis than the last is sorted."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    given |= dict(zip(("axis", "direction"), call.args[1:], strict=False))
    axis, direction = (ast.unparse(given[key]).strip("'\"") if key in given else "" for key in ("axis", "direction"))
    if not number or axis not in ("", "-1") or direction not in ("", "ASCENDING", "DESCENDING"):
        return ""
    module = ast.unparse(call.func).rpartition(".")[0]
    values, part = ast.unparse(call.args[0]), ".indices" if name_of(call.func) == "argsort" else ".values"
    if direction == "DESCENDING":
        return f"{module}.math.top_k({values}, k={number}){part}"
    negative = f"-{values}" if isinstance(call.args[0], ast.Name | ast.Attribute) else f"-({values})"
    sign = "-" if part == ".values" else ""
    return f"{sign}{module}.math.top_k({negative}, k={number}){part}"
