"""Sorted tensors of which a program keeps only the first, in code."""

from __future__ import annotations

import ast

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import assigned_name, holds, name_of, replaced, scopes


def only_first(code: Code, file: str, line: int) -> str:
    r"""Return a line that sorts with `tf.math.top_k` instead, if its only use is to take the first of the last axis.

    Examples
    --------
    >>> code = Code({"cell": "order = tf.argsort(s, direction='DESCENDING')\nbest = order[:, :k]"})
    >>> only_first(code, "cell", 1)
    'order = tf.math.top_k(s, k=k).indices'
    >>> only_first(Code({"cell": "near = tf.gather(x, tf.argsort(d)[:5])"}), "cell", 1)
    'near = tf.gather(x, tf.math.top_k(-d, k=5).indices[:5])'
    >>> only_first(Code({"cell": "median = tf.sort(x, axis=1)[:, 2]"}), "cell", 1)
    'median = -tf.math.top_k(-x, k=3).values[:, 2]'
    >>> only_first(Code({"cell": "order = tf.argsort(s)\nprint(order)"}), "cell", 1)
    ''
    """
    statement = code.statement(file, line)
    calls = [one for one in code.nodes(file, ast.Call) if name_of(one.func) in ("sort", "argsort") and holds(one, line)]
    if statement is None or len(calls) != 1 or statement.lineno != statement.end_lineno or not calls[0].args:
        return ""
    call, scope = calls[0], scopes(code.syntax(file), line)[0]
    name = assigned_name(statement) if isinstance(statement, ast.Assign) and statement.value is call else ""
    parts = [node for node in ast.walk(scope) if isinstance(node, ast.Subscript) and _is_part_of(node, call, name)]
    numbers = {_first_of(node) for node in parts}
    ranks = [len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1 for node in parts]
    uses = sum(isinstance(one, ast.Name) and one.id == name for one in ast.walk(scope)) - 1 if name else 1
    new = _top(call, numbers.pop(), max(ranks)) if len(numbers) == 1 and len(parts) == uses else ""
    if not new:
        return ""
    return replaced(code.text(file), statement, call, new)


def _is_part_of(node: ast.Subscript, call: ast.Call, name: str) -> bool:
    """Whether code takes a part of what a call returns, itself or by its name."""
    return node.value is call or (isinstance(node.value, ast.Name) and node.value.id == name and bool(name))


def _first_of(node: ast.Subscript) -> str:
    """Return how many of the first of the last axis a part needs; empty if that is unknown."""
    places = node.slice
    last = places.elts[-1] if isinstance(places, ast.Tuple) and places.elts else places
    if isinstance(last, ast.Constant) and isinstance(last.value, int) and last.value >= 0:
        return str(last.value + 1)
    if not isinstance(last, ast.Slice) or last.lower is not None or last.step is not None or last.upper is None:
        return ""
    plain = isinstance(last.upper, ast.Name | ast.Attribute) or (
        isinstance(last.upper, ast.Constant) and isinstance(last.upper.value, int)
    )
    return ast.unparse(last.upper) if plain else ""


def _top(call: ast.Call, number: str, rank: int) -> str:
    """Return the call that finds the first of a sorted tensor; empty if another axis than the last is sorted."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    given |= dict(zip(("axis", "direction"), call.args[1:], strict=False))
    axis, direction = (ast.unparse(given[key]).strip("'\"") if key in given else "" for key in ("axis", "direction"))
    if not number or axis not in ("", "-1", str(rank - 1)) or direction not in ("", "ASCENDING", "DESCENDING"):
        return ""
    module = ast.unparse(call.func).rpartition(".")[0]
    values, part = ast.unparse(call.args[0]), ".indices" if name_of(call.func) == "argsort" else ".values"
    if direction == "DESCENDING":
        return f"{module}.math.top_k({values}, k={number}){part}"
    negative = f"-{values}" if isinstance(call.args[0], ast.Name | ast.Attribute) else f"-({values})"
    sign = "-" if part == ".values" else ""
    return f"{sign}{module}.math.top_k({negative}, k={number}){part}"
