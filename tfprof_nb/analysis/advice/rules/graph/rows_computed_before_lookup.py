import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at
from tfprof_nb.analysis.source.gradients import forward_nodes, with_gradients
from tfprof_nb.analysis.step_ops.shapes import origin_of, sizes
from tfprof_nb.decode.sections.graphs import Graphs

_LARGE, _FEW_ROWS = 1_000_000, 0.1  # numbers in the table; looked up in a step, of all rows
# Ops whose result has in each row what they compute from that row alone (a sum: where it keeps the rows).
_BY_ROW = (
    *("Abs", "Add", "AddV2", "Cast", "Div", "Elu", "Exp", "Identity", "LeakyRelu", "Log", "LogSoftmax", "Max"),
    *("Maximum", "Mean", "Min", "Minimum", "Mul", "Neg", "Pow", "RealDiv", "Relu", "Rsqrt", "Sigmoid", "Softmax"),
    *("Softplus", "Sqrt", "Square", "SquaredDifference", "Sub", "Sum", "Tanh"),
)
_GIVEN = ("Const", "ReadVariableOp", "Placeholder")

RULE = Rule(
    "rows-computed-before-lookup",
    "All rows of a table are computed before a lookup",
    "Looks for lookups (`tf.gather`) in what was computed row by row from a table of a million numbers or more, of "
    "which a step uses at most a tenth.",
    "What is computed of the other rows, with its gradients, is not used in that step.",
    action="Look up first, then compute",
    page="ops",
    moderate=20.0,
    high=40.0,
    saved=(0.6, 1.0),
    supersedes=("dominant-op",),
    results="equal",
)


class _Computed(NamedTuple):
    """A lookup in what was computed from a table: its node, the nodes that compute, the rows, and those looked up."""

    lookup: int
    nodes: frozenset[int]
    rows: int
    rows_used: int


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    found = list(_computed(ops.graphs)) if ops.steps else []
    if not found:
        return
    own = np.zeros(len(ops.graphs.nodes), dtype=bool)
    own[[node for one in found for node in one.nodes]] = True
    percent = ops.percent(with_gradients(ops.graphs, own))
    most = max(found, key=lambda one: one.rows)
    place = ops.place(ops.frame_of(most.lookup))
    used_at = dict.fromkeys((_units.count(one.rows_used), ops.place(ops.frame_of(one.lookup))) for one in found)
    used = " and ".join(f"{rows}{at(place)}" for rows, place in used_at) if len(used_at) > 1 else next(iter(used_at))[0]
    yield Case(
        percent,
        finding=f"All {_units.count(most.rows)} rows of a table are computed before a lookup{at(place)}",
        evidence=f"A step uses {used} of them. What is computed of all rows, with its gradients, runs in "
        f"{_units.percent(percent)} of each step.",
        fix=f"Look up first, then compute: give {'each ' * (len(used_at) > 1)}tf.gather the table itself, and compute "
        "with the rows that it returns. Each row is computed by itself here, so the result is the same.",
        place=place,
    )


def _computed(graphs: Graphs) -> Iterator[_Computed]:
    nodes = graphs.nodes
    op, inputs, outputs = nodes["op"].tolist(), nodes["inputs"].tolist(), nodes["outputs"].astype(str).tolist()
    backward = nodes["phase"].isin(["backward", "optimizer"]).to_numpy(bool) | (graphs.once(forward_nodes) >= 0)
    for node, kind in enumerate(op):
        if kind != "GatherV2" or backward[node] or not inputs[node]:
            continue
        whole = origin_of(inputs[node][0], op, inputs)
        table, used = sizes(outputs[whole]), next(iter(sizes(outputs[node])), ())
        if not table or not used or len(table[0]) != 2 or math.prod(table[0]) < _LARGE or op[whole] in _GIVEN:
            continue
        rows, rows_used = table[0][0], math.prod(used[:-1])
        before = _nodes_before(whole, rows, op, inputs, outputs)
        if before and rows_used <= _FEW_ROWS * rows:
            yield _Computed(node, before, rows, rows_used)


def _nodes_before(last: int, rows: int, op: list[str], inputs: list[list[int]], outputs: list[str]) -> frozenset[int]:
    """Return the nodes that compute the rows, back to the table; none if not all of them work row by row."""
    found, left = set[int](), [last]
    while left:
        node = left.pop()
        if node in found or op[origin_of(node, op, inputs)] in _GIVEN:
            continue
        if op[node] not in _BY_ROW or not any(shape[:1] == (rows,) for shape in sizes(outputs[node])):
            return frozenset()
        found.add(node)
        left += inputs[node]
    return frozenset(found)
