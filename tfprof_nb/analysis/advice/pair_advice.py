"""What to change about the differences of all pairs of rows: their squares follow from one product of matrices."""

from __future__ import annotations

import math

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import Evidence, Finding, saving
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.pairs import matrix_form
from tfprof_nb.analysis.step_ops.shapes import Shape, sizes
from tfprof_nb.decode.sections.graphs import Graphs

_MANY, _LARGE = 16, 1_000_000  # rows of each, numbers in the differences
_SQUARING = ("Square", "Mul", "Pow")

RULE = Rule(
    "pairwise-differences",
    "The differences of all pairs of rows are computed",
    "Looks for differences of n x 1 x d and 1 x m x d tensors, of a million numbers and more, that are then squared.",
    "The squared distances of all pairs follow from one product of matrices, with one number for each pair in the "
    "place of d.",
    group="graph",
    page="ops",
    moderate=20.0,
    high=40.0,
    saved=(0.5, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
    results="close",
)


def pair_findings(evidence: Evidence) -> list[Finding]:
    """Report differences of all pairs of rows that are made to be squared, and take much of the steps."""
    ops = evidence.step_ops()
    node, shape = _differences(ops.graphs) if ops.steps else (-1, ())
    if node < 0:
        return []
    nodes = ops.graphs.nodes
    on_pairs = [
        shape in [*sizes(made), *sizes(taken)]
        for made, taken in zip(nodes["outputs"].astype(str), nodes["takes"].astype(str), strict=True)
    ]
    percent = 100 * ops.share(ops.ran(np.array(on_pairs, dtype=bool))).covered
    if percent < RULE.moderate:
        return []
    place = ops.place(ops.frame_of(node))
    form = matrix_form(evidence.code, *line_at(place)) if len(shape) == 3 else None
    needless = (
        f" The result of line {' and '.join(map(str, form.needless))} is then unused." if form and form.needless else ""
    )
    summed = place_of(line_at(place)[0], form.line) if form else place
    *_, rows, columns, width = shape
    return [
        saving(
            RULE,
            percent,
            finding=f"The differences of all {_units.count(rows)} × {_units.count(columns)} pairs of rows are "
            f"computed{place and f' ({place})'}",
            evidence=f"They are {_units.count(math.prod(shape))} numbers, {_units.count(width)} for each pair. Ops on "
            f"so many numbers run in {_units.percent(percent)} of each step.",
            fix="Compute squared distances as |a|² - 2ab + |b|²: one tf.matmul has all products, and there is one "
            f"number for each pair{f': `{form.change}`' if form else ''}.{needless} It rounds more where two rows are "
            "nearly equal.",
            place=summed,
            change=form.change if form else "",
        )
    ]


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
