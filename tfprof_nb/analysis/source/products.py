"""Products with one-hot vectors or sparse matrices in code, and what computes the same without their zeros."""

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tfprof_nb.analysis.source.code import Code
from tfprof_nb.analysis.source.syntax import assigned_name, name_of, replaced, scope_of


class Product(NamedTuple):
    """The line of a product, its code without the zeros, and whether its first matrix is transposed."""

    line: int
    change: str
    transposed: bool


def lookups(code: Code, file: str, line: int) -> list[Product]:
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
    made = code.calls(file, line, "one_hot")
    if len(made) != 1 or not _is_plain(made[0]):
        return []
    call = made[0]
    module, numbers, depth = _module(call), ast.unparse(call.args[0]), ast.unparse(_depth(call))

    def instead(matrix: str, transposed: bool) -> str:
        if transposed:
            return f"{module}.math.unsorted_segment_sum({matrix}, {numbers}, {depth})"
        return f"{module}.gather({matrix}, {numbers})"

    return sorted(_products(code, file, call, instead))


def with_sparse(code: Code, file: str, line: int) -> Product | None:
    r"""Return how to write the only product that takes the dense form, made at a line, of a sparse matrix.

    Examples
    --------
    >>> with_sparse(Code({"cell": "d = tf.sparse.to_dense(x)\ny = tf.nn.relu(tf.matmul(d, w))"}), "cell", 1).change
    'y = tf.nn.relu(tf.sparse.sparse_dense_matmul(x, w))'
    """
    made = code.calls(file, line, "to_dense")
    if len(made) != 1 or not made[0].args:
        return None
    module, sparse = _module(made[0]), ast.unparse(made[0].args[0])

    def instead(matrix: str, transposed: bool) -> str:
        turned = ", adjoint_a=True" if transposed else ""
        return f"{module}.sparse.sparse_dense_matmul({sparse}, {matrix}{turned})"

    found = list(_products(code, file, made[0], instead))
    return found[0] if len(found) == 1 else None


def _module(call: ast.Call) -> str:
    return ast.unparse(call.func).partition(".")[0]


def _products(code: Code, file: str, made: ast.Call, instead: Callable[[str, bool], str]) -> Iterator[Product]:
    """Yield the products whose first matrix is what a call returns, itself or by the name that it is assigned to."""
    statement = code.statement(file, made.lineno)
    name = assigned_name(statement) if isinstance(statement, ast.Assign) and statement.value is made else ""
    scope = scope_of(code.syntax(file), made.lineno)
    named = [node for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id == name]
    if name and sum(isinstance(one.ctx, ast.Store) for one in named) != 1:
        return
    for node in (node for node in ast.walk(scope) if isinstance(node, ast.Call | ast.BinOp)):
        product = _product(node)
        statement = code.statement(file, node.lineno)
        if product is None or statement is None or statement.lineno != statement.end_lineno:
            continue
        first, matrix, transposed = product
        if not (first is made or (name and isinstance(first, ast.Name) and first.id == name)):
            continue
        new = instead(ast.unparse(matrix), transposed)
        yield Product(node.lineno, replaced(code.text(file), statement, node, new), transposed)


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
