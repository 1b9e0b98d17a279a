"""Products with one-hot vectors in code, and the lookups and sums that compute the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import assigned_name, holds, name_of, scopes


class Lookup(NamedTuple):
    """The line of a product, its code without one-hot vectors, and whether it sums rows instead of looking them up."""

    line: int
    change: str
    sums: bool


def lookups(code: Code, file: str, line: int) -> list[Lookup]:
    r"""Return how to write the products that take the one-hot vectors made at a line, of matrices.

    Examples
    --------
    >>> text = "s = tf.one_hot(src, n)\nm = tf.matmul(s, h)\na = tf.matmul(s, m, transpose_a=True) + 1\nb = s @ m"
    >>> for one in lookups(Code({"cell": text}), "cell", 1):
    ...     print(one.change)
    m = tf.gather(h, src)
    a = tf.math.unsorted_segment_sum(m, src, n) + 1
    b = tf.gather(m, src)
    """
    made = [call for call in code.nodes(file, ast.Call) if name_of(call.func) == "one_hot" and holds(call, line)]
    if len(made) != 1 or not _is_plain(made[0]):
        return []
    statement = code.statement(file, line)
    name = assigned_name(statement) if isinstance(statement, ast.Assign) and statement.value is made[0] else ""
    scope = scopes(code.syntax(file), line)[0]
    if name and sum(isinstance(one, ast.Name) and one.id == name and _stores(one) for one in ast.walk(scope)) != 1:
        return []
    return sorted(_lookups(code, file, made[0], name, scope))


def _lookups(code: Code, file: str, made: ast.Call, name: str, scope: ast.AST) -> Iterator[Lookup]:
    module = ast.unparse(made.func).partition(".")[0]
    numbers, depth = ast.unparse(made.args[0]), ast.unparse(_depth(made))
    for node in (one for one in ast.walk(scope) if isinstance(one, ast.Call | ast.BinOp)):
        product = _product(node)
        statement = code.statement(file, node.lineno)
        if product is None or statement is None or statement.lineno != statement.end_lineno:
            continue
        vectors, matrix, transposed = product
        if not (vectors is made or (name and isinstance(vectors, ast.Name) and vectors.id == name)):
            continue
        rows = ast.unparse(matrix)
        new = f"{module}.gather({rows}, {numbers})"
        if transposed:
            new = f"{module}.math.unsorted_segment_sum({rows}, {numbers}, {depth})"
        before = code.line(file, node.lineno).encode()
        begin, end = (at - statement.col_offset for at in (node.col_offset, node.end_col_offset or 0))
        yield Lookup(node.lineno, (before[:begin] + new.encode() + before[end:]).decode(), transposed)


def _product(node: ast.Call | ast.BinOp) -> tuple[ast.expr, ast.expr, bool] | None:
    """Return the operands of a product of matrices, and whether the first one is transposed."""
    if isinstance(node, ast.BinOp):
        return _transposed(node.left, node.right) if isinstance(node.op, ast.MatMult) else None
    if name_of(node.func) != "matmul" or len(node.args) != 2:
        return None
    flags = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
    if flags not in ({}, {"transpose_a": "True"}):
        return None
    first, second = node.args
    return (first, second, True) if flags else _transposed(first, second)


def _transposed(first: ast.expr, second: ast.expr) -> tuple[ast.expr, ast.expr, bool]:
    turned = isinstance(first, ast.Call) and name_of(first.func) == "transpose" and len(first.args) == 1
    return (first.args[0], second, True) if isinstance(first, ast.Call) and turned else (first, second, False)


def _depth(made: ast.Call) -> ast.expr:
    named = [keyword.value for keyword in made.keywords if keyword.arg == "depth"]
    return [*made.args[1:2], *named][0]


def _is_plain(made: ast.Call) -> bool:
    """Whether a call gives numbers and their bound, and at most a type."""
    keywords = {keyword.arg for keyword in made.keywords}
    return keywords <= {"depth", "dtype"} and len(made.args) + ("depth" in keywords) == 2 and len(made.args) > 0


def _stores(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)
