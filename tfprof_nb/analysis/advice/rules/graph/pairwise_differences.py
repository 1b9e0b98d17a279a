import ast
import math
from typing import NamedTuple

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at
from tfprof_nb.analysis.source.code import Code, line_at, place_of
from tfprof_nb.analysis.source.syntax import calls_in, name_of, replaced, scope_of
from tfprof_nb.analysis.step_ops.shapes import Shape, sizes
from tfprof_nb.decode.sections.graphs import Graphs

_MANY, _LARGE = 16, 1_000_000  # rows of each, numbers in the differences
_SQUARING = ("Square", "Mul", "Pow")
_PRODUCT = (
    "Compute squared distances as |a|² - 2ab + |b|²: one tf.matmul has all products, and there is one number for each "
    "pair."
)
_ROUNDS = "It rounds more where two rows are nearly equal."
_FORM = (
    "{tf}.maximum({tf}.reduce_sum({rows} ** 2, -1)[:, None] - 2 * {tf}.matmul({rows}, {columns}, transpose_b=True) "
    "+ {tf}.reduce_sum({columns} ** 2, -1)[None, :], {least})"
)
_SQUARES, _DIFFERENCES = ("square", "pow"), ("subtract", "squared_difference")
_SMALL = "1e-12"  # below it, the gradient of a root is too large
_LAST_AXES = (-1, 2)

RULE = Rule(
    "pairwise-differences",
    "The differences of all pairs of rows are computed",
    "Looks for differences of n x 1 x d and 1 x m x d tensors, of a million numbers or more, that are then squared.",
    "The squared distances of all pairs follow from one product of matrices, with one number for each pair in the "
    "place of d.",
    action="Compute the distances by one product",
    page="ops",
    moderate=20.0,
    high=40.0,
    saved=(0.5, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    node, shape = _differences(ops.graphs) if ops.steps else (-1, ())
    if node < 0:
        return
    nodes = ops.graphs.nodes
    on_pairs = [
        shape in [*sizes(made), *sizes(taken)]
        for made, taken in zip(nodes["outputs"].astype(str), nodes["takes"].astype(str), strict=True)
    ]
    percent = ops.percent(np.array(on_pairs, dtype=bool))
    place = ops.place(ops.frame_of(node))
    form = _matrix_form(evidence.code, *line_at(place)) if len(shape) == 3 else None
    needless = (
        f" The result of line {' and '.join(map(str, form.needless))} is then unused." if form and form.needless else ""
    )
    summed = place_of(line_at(place)[0], form.line) if form else place
    *_, rows, columns, width = shape
    yield Case(
        percent,
        finding=f"The differences of all {_units.count(rows)} × {_units.count(columns)} pairs of rows are "
        f"computed{at(place)}",
        evidence=f"They are {_units.count(math.prod(shape))} numbers, {_units.count(width)} for each pair. Ops on "
        f"so many numbers run in {_units.percent(percent)} of each step.",
        fix=f"{_PRODUCT}{needless} {_ROUNDS}",
        place=summed,
        change=form.change if form else "",
        without_change=f"{_PRODUCT} {_ROUNDS}",
    )


def _differences(graphs: Graphs) -> tuple[int, Shape]:
    """Return the largest difference of all rows of two tensors that is squared, and its shape; -1 if there is none."""
    nodes = graphs.nodes
    op, inputs, forward = nodes["op"].tolist(), nodes["inputs"].tolist(), nodes["forward"].tolist()
    squared = {source for node, kind in enumerate(op) if kind in _SQUARING for source in inputs[node]}
    found = [
        (math.prod(made[0]), node, made[0])
        for node, kind in enumerate(op)
        if (kind == "SquaredDifference" or (kind == "Sub" and node in squared)) and forward[node] < 0
        if (made := sizes(str(nodes["outputs"].iloc[node])))
        and _are_pairs(sizes(str(nodes["takes"].iloc[node])), made[0])
    ]
    size, node, shape = max(found, default=(0, -1, ()))
    return (node, shape) if size >= _LARGE else (-1, ())


def _are_pairs(taken: list[Shape], made: Shape) -> bool:
    """Whether two tensors are ``n x 1 x d`` and ``1 x m x d``, in either order, and their difference ``n x m x d``."""
    if len(taken) != 2 or len(made) < 3 or made[-2] < _MANY or made[-3] < _MANY:
        return False
    first, second = ((*[1] * (len(made) - len(one)), *one) for one in taken)
    crossed = {(first[-3] == 1, first[-2] == 1), (second[-3] == 1, second[-2] == 1)} == {(True, False), (False, True)}
    return crossed and first[-1] == second[-1] == made[-1] > 1


class _MatrixForm(NamedTuple):
    """The line that sums squared differences, its code with a product, and the lines that this makes needless."""

    line: int
    change: str
    needless: list[int]


def _matrix_form(code: Code, file: str, line: int) -> _MatrixForm | None:
    r"""Return how to sum the squares of the differences made at a line, of rows of two matrices, without making these.

    Examples
    --------
    >>> text = "diff = x[:, None] - y[None, :]\nd = tf.reduce_sum(diff ** 2, axis=-1) / 2"
    >>> form = _matrix_form(Code({"cell": text}), "cell", 1)
    >>> form.change[:40], form.change[-46:], form.line, form.needless
    ('d = tf.maximum(tf.reduce_sum(x ** 2, -1)', '+ tf.reduce_sum(y ** 2, -1)[None, :], 0.0) / 2', 2, [1])
    """
    scope = scope_of(code.syntax(file), line)
    for statement in (node for node in ast.walk(scope) if isinstance(node, ast.stmt)):
        for call in calls_in(statement):
            needless: list[int] = []
            form = _form(call, scope, needless)
            if form and line in (call.lineno, *needless) and statement.lineno == statement.end_lineno:
                change = replaced(code.text(file), statement, call, form)
                return _MatrixForm(call.lineno, change, sorted(needless))
    return None


def _form(call: ast.Call, scope: ast.AST, needless: list[int]) -> str:
    """Return what computes the same as a sum of squared differences, or as their norm; empty for another call.

    The lines of the names that only this call uses are added to ``needless``.
    """
    called = name_of(call.func)
    if called not in ("reduce_sum", "norm") or _axis(call) not in _LAST_AXES or not call.args or _keeps(call):
        return ""
    inner = _value(call.args[0], scope, needless)
    if called == "norm":
        differences = None if _squares_itself(inner) else inner
    else:
        differences = inner if _squares_itself(inner) else _squared(inner, scope, needless)
    pair = _broadcast(differences, scope, needless) if differences else None
    if pair is None:
        return ""
    module = ast.unparse(call.func).partition(".")[0]
    rows, columns = map(ast.unparse, pair)
    least = _SMALL if called == "norm" else "0.0"
    form = _FORM.format(tf=module, rows=rows, columns=columns, least=least)
    return f"{module}.sqrt({form})" if called == "norm" else form


def _squared(node: ast.expr, scope: ast.AST, needless: list[int]) -> ast.expr | None:
    """Return what an expression squares: `tf.square(x)`, `x ** 2`, `x * x`."""
    squares = isinstance(node, ast.Call) and name_of(node.func) in _SQUARES and len(node.args) >= 1
    if isinstance(node, ast.Call) and squares and (name_of(node.func) == "square" or _is_two(node.args[1:])):
        inner = _value(node.args[0], scope, needless)
        return None if _squares_itself(inner) else inner
    if isinstance(node, ast.BinOp):
        power = isinstance(node.op, ast.Pow) and _is_two([node.right])
        product = isinstance(node.op, ast.Mult) and ast.dump(node.left) == ast.dump(node.right)
        return _value(node.left, scope, needless, uses=1 + product) if power or product else None
    return None


def _squares_itself(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) == "squared_difference"


def _broadcast(node: ast.expr, scope: ast.AST, needless: list[int]) -> tuple[ast.expr, ast.expr] | None:
    """Return the matrices whose rows and whose columns of pairs are subtracted: `x[:, None] - y[None]`."""
    two: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        two = [node.left, node.right]
    if isinstance(node, ast.Call) and name_of(node.func) in _DIFFERENCES:
        two = node.args[:2]
    matrices = {axis: one for axis, one in (_expanded(_value(each, scope, needless)) for each in two) if one}
    return (matrices[1], matrices[0]) if set(matrices) == {0, 1} else None


def _expanded(node: ast.expr) -> tuple[int, ast.expr | None]:
    """Return the axis of size 1 that is inserted into a matrix with a name, and the matrix."""
    if isinstance(node, ast.Call) and name_of(node.func) == "expand_dims" and node.args:
        return _axis(node, default=-9), node.args[0] if _is_plain(node.args[0]) else None
    if not isinstance(node, ast.Subscript) or not _is_plain(node.value):
        return -9, None
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    new = [number for number, place in enumerate(places) if _is_new_axis(place)]
    rest = [place for place in places if not _is_new_axis(place)]
    whole = all(isinstance(place, ast.Slice) and not (place.lower or place.upper or place.step) for place in rest)
    return (new[0], node.value) if len(new) == 1 and whole else (-9, None)


def _value(node: ast.expr, scope: ast.AST, needless: list[int], uses: int = 1) -> ast.expr:
    """Return what a name stands for, if it is assigned once and used nowhere else."""
    if not isinstance(node, ast.Name):
        return node
    named = [one for one in ast.walk(scope) if isinstance(one, ast.Name) and one.id == node.id]
    stores = [one for one in named if isinstance(one.ctx, ast.Store)]
    made = [
        one
        for one in ast.walk(scope)
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and one.targets[0] in stores
    ]
    if len(stores) != 1 or len(made) != 1 or len(named) != 1 + uses:
        return node
    needless.append(made[0].lineno)
    return made[0].value


def _axis(call: ast.Call, default: int = 9) -> int:
    given = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "axis")]
    try:
        value = ast.literal_eval(given[0]) if given else default
    except ValueError:
        return default
    return value if isinstance(value, int) else default


def _keeps(call: ast.Call) -> bool:
    return any(keyword.arg != "axis" for keyword in call.keywords) or len(call.args) > 2


def _is_two(given: list[ast.expr]) -> bool:
    return len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value == 2


def _is_new_axis(place: ast.expr) -> bool:
    return (isinstance(place, ast.Constant) and place.value is None) or name_of(place) == "newaxis"


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression costs nothing to evaluate twice."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_plain(node.value))
