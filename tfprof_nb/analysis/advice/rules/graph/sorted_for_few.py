import ast
from typing import NamedTuple

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at
from tfprof_nb.analysis.source.code import Code, line_at
from tfprof_nb.analysis.source.syntax import assigned_name, name_of, replaced, scope_of
from tfprof_nb.analysis.step_ops.shapes import last_dimension
from tfprof_nb.decode.sections.graphs import Graphs

_LONG, _FEW = 1000, 0.1  # numbers of a row; of these
_PICKS = ("StridedSlice", "Slice")

RULE = Rule(
    "sorted-for-few",
    "Long rows are sorted for their first few values",
    "Looks for rows of 1,000 values or more that are sorted as a whole (`tf.sort`, `tf.argsort`), where all that use "
    "the result take at most a tenth of each row.",
    "Sorting a row costs much more than finding its largest values: `tf.math.top_k` leaves the others unsorted.",
    action="Find the first ones without sorting",
    page="ops",
    moderate=15.0,
    high=30.0,
    saved=(0.5, None),
    supersedes=("dominant-op", "dominant-layer"),
    results="equal",
)


class _Sort(NamedTuple):
    """The node that sorts rows, their length, and how many of the sorted numbers are kept; 1 for single ones."""

    node: int
    length: int
    kept: int


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    found = _sorts(ops.graphs) if ops.steps else []
    if not found:
        return
    own = np.zeros(len(ops.graphs.nodes), dtype=bool)
    own[[sort.node for sort in found]] = True
    percent = ops.percent(own)
    place = ops.place(ops.frame_of(found[0].node))
    change = _only_first(evidence.code, *line_at(place))
    several = found[0].kept > 1
    first = f"first {_units.count(found[0].kept)}" if several else "number at a single place"
    yield Case(
        percent,
        finding=f"Rows of {_units.count(found[0].length)} numbers are sorted for their {first}{at(place)}",
        evidence=f"Sorting runs in {_units.percent(percent)} of each step. Of each sorted row, only the {first} "
        f"{'are' if several else 'is'} used.",
        fix="Find the first ones of each row with tf.math.top_k, which leaves the others unsorted.",
        place=place,
        change=change,
    )


def _sorts(graphs: Graphs) -> list[_Sort]:
    """Return the nodes that sort long rows of which all that use them take the first few."""
    nodes = graphs.nodes
    op, inputs, made, taken = (nodes[name].tolist() for name in ("op", "inputs", "outputs", "takes"))
    found = []
    for node in (one for one, kind in enumerate(op) if kind == "TopKV2"):
        length = last_dimension(str(taken[node]))
        if length < _LONG or last_dimension(str(made[node])) != length:
            continue
        users = _users(node, op, inputs)
        kept = [_kept(str(taken[user]), str(made[user])) for user in users if op[user] in _PICKS]
        if users and len(kept) == len(users) and 0 < max(kept) <= _FEW * length:
            found.append(_Sort(node, length, max(kept)))
    return sorted(found, key=lambda sort: -sort.kept)


def _kept(taken: str, made: str) -> int:
    """Return how many numbers of a row a part has: 1 of a part with fewer dimensions; 0 if that is unknown."""
    fewer = made.split(";", maxsplit=1)[0].count(",") < taken.split(";", maxsplit=1)[0].count(",")
    return 1 if fewer else last_dimension(made)


def _users(node: int, op: list[str], inputs: list[list[int]]) -> list[int]:
    """Return the nodes that use what a node makes, behind those that only change its sign or hand it on."""
    direct = [user for user, sources in enumerate(inputs) if node in sources]
    passing = [user for user in direct if op[user] in ("Neg", "Identity", "Cast")]
    return [user for user in direct if user not in passing] + [
        one for user in passing for one in _users(user, op, inputs)
    ]


def _only_first(code: Code, file: str, line: int) -> str:
    r"""Return a line that sorts with `tf.math.top_k` instead, if its only use is to take the first of the last axis.

    Examples
    --------
    >>> code = Code({"cell": "order = tf.argsort(s, direction='DESCENDING')\nbest = order[:, :k]"})
    >>> _only_first(code, "cell", 1)
    'order = tf.math.top_k(s, k=k).indices'
    >>> _only_first(Code({"cell": "near = tf.gather(x, tf.argsort(d)[:5])"}), "cell", 1)
    'near = tf.gather(x, tf.math.top_k(-d, k=5).indices[:5])'
    >>> _only_first(Code({"cell": "median = tf.sort(x, axis=1)[:, 2]"}), "cell", 1)
    'median = -tf.math.top_k(-x, k=3).values[:, 2]'
    >>> _only_first(Code({"cell": "order = tf.argsort(s)\nprint(order)"}), "cell", 1)
    ''
    """
    statement = code.statement(file, line)
    calls = code.calls(file, line, "sort", "argsort")
    if statement is None or len(calls) != 1 or statement.lineno != statement.end_lineno or not calls[0].args:
        return ""
    call, scope = calls[0], scope_of(code.syntax(file), line)
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
