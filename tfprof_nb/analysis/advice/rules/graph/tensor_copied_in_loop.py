import ast
import math
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at
from tfprof_nb.analysis.source.code import Code, line_at
from tfprof_nb.analysis.source.gradients import with_gradients
from tfprof_nb.analysis.source.syntax import assigned_name, name_of
from tfprof_nb.analysis.step_ops.shapes import sizes
from tfprof_nb.decode.sections.graphs import Graphs

_SMALL_PART = 0.1
_KEEPING = ("Identity", "NoOp", "TensorListPushBack")  # for the next pass, or for the gradient
_DTYPE = re.compile(r"\w+")

RULE = Rule(
    "tensor-copied-in-loop",
    "Each pass of a loop copies a whole tensor to write a part of it",
    "Looks for `tf.tensor_scatter_nd_update` in a loop of the graph that writes at most a tenth of a tensor which "
    "nothing else in the loop reads.",
    "The op returns a new tensor: each pass, and its gradient, copies all of it. A `tf.TensorArray` copies nothing.",
    action="Collect the parts in a tf.TensorArray",
    page="ops",
    moderate=15.0,
    high=30.0,
    saved=(0.6, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
    results="equal",
)


class _Copy(NamedTuple):
    """The node that writes a part of a loop's tensor, the numbers of the part and of all, its rows and its type."""

    node: int
    part: int
    whole: int
    rows: int
    dtype: str


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    found = list(_copies(ops.graphs)) if ops.steps else []
    if not found:
        return
    own = np.zeros(len(ops.graphs.nodes), dtype=bool)
    own[[one.node for one in found]] = True
    percent = ops.percent(with_gradients(ops.graphs, own))
    most = max(found, key=lambda one: one.whole)
    place = ops.place(ops.frame_of(most.node))
    yield Case(
        percent,
        finding=f"Each pass of a loop copies a whole tensor to write a part of it{at(place)}",
        evidence=f"A pass writes {_units.count(most.part)} of {_units.count(most.whole)} numbers. The copies, with "
        f"those of the gradient, run in {_units.percent(percent)} of each step.",
        fix=_collected(evidence.code, place, most),
        place=place,
    )


def _copies(graphs: Graphs) -> Iterator[_Copy]:
    """Return the nodes of loops' bodies that write a small part of a tensor that nothing in the body reads."""
    nodes = graphs.nodes
    op, inputs, taken = (nodes[name].tolist() for name in ("op", "inputs", "takes"))
    bodies = set(graphs.calls.loc[graphs.calls["role"] == "body", "function"])
    function = nodes["function"].tolist()
    given = graphs.arguments
    for node, place, argument in given.itertuples(index=False):
        if op[node] != "TensorScatterUpdate" or place != 0 or function[node] not in bodies:
            continue
        shapes = sizes(taken[node])
        takes_it = given.loc[given["argument"] == argument, "node"]
        readers = [one for one in takes_it if function[one] == function[node] and one != node]
        readers += [user for user, sources in enumerate(inputs) if node in sources]
        if len(shapes) != 3 or any(op[one] not in _KEEPING for one in readers):
            continue
        part, whole = math.prod(shapes[2]), math.prod(shapes[0])
        if part <= _SMALL_PART * whole:
            dtype = _DTYPE.match(taken[node])
            yield _Copy(node, part, whole, shapes[0][0], dtype[0] if dtype else "float32")


def _collected(code: Code, place: str, copied: _Copy) -> str:
    """Say how to collect what the passes write."""
    name, index, value = written(code, *line_at(place))
    array = f"tf.TensorArray(tf.{copied.dtype}, {copied.rows})"
    if not name:
        return f"Collect the parts in `array = {array}`: `array.write(i, part)` in the loop, `array.stack()` after it."
    return (
        f"Collect the parts in a tf.TensorArray, which copies nothing: `{name} = {array}` before the loop, `{name} = "
        f"{name}.write({index}, {value})` in it, and `{name} = {name}.stack()` after it."
    )


def written(code: Code, file: str, line: int) -> tuple[str, str, str]:
    """Return the tensor of which a line writes one row, the row's number and its value; empty for other lines.

    Examples
    --------
    >>> text = "path = tf.tensor_scatter_nd_update(path, [[t]], state[None])"
    >>> written(Code({"cell": text}), "cell", 1)
    ('path', 't', 'state')
    >>> written(Code({"cell": text.replace("[[t]]", "where")}), "cell", 1)
    ('', '', '')
    """
    statement = code.statement(file, line)
    name = assigned_name(statement) if statement else ""
    call = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(call, ast.Call) or name_of(call.func) != "tensor_scatter_nd_update" or len(call.args) != 3:
        return "", "", ""
    index, value = _only(_only(call.args[1])), _row(call.args[2])
    if ast.unparse(call.args[0]) != name or index is None or value is None:
        return "", "", ""
    return name, ast.unparse(index), ast.unparse(value)


def _only(node: ast.expr | None) -> ast.expr | None:
    """Return the only element of a list; None for other code."""
    return node.elts[0] if isinstance(node, ast.List) and len(node.elts) == 1 else None


def _row(node: ast.expr) -> ast.expr | None:
    """Return what code puts into a new first dimension; None for other code."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value is None:
        return node.value
    if isinstance(node, ast.Call) and name_of(node.func) == "expand_dims" and len(node.args) == 2:
        return node.args[0] if ast.unparse(node.args[1]) == "0" else None
    return _only(node)
