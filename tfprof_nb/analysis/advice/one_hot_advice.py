"""What to change about one-hot vectors that are multiplied by a matrix: an embedding looks the rows up."""

from __future__ import annotations

import numpy as np

from tfprof_nb import _units
from tfprof_nb._arrays import Bools
from tfprof_nb.analysis.advice.findings import ONE_LAYER, ONE_OP, Evidence, Finding, saving
from tfprof_nb.analysis.source.placed_ops import creating_frames
from tfprof_nb.analysis.step_ops.shapes import last_dimension, origin_of
from tfprof_nb.decode.sections.graphs import Graphs

_LARGE = 1000  # classes
_WORTH_SAYING = 20.0, 40.0
_SAVED = 0.4, 1.0


def one_hot_findings(evidence: Evidence) -> list[Finding]:
    """Report products of large one-hot vectors and a matrix that take much of the steps."""
    ops = evidence.step_ops()
    graphs = ops.graphs
    if graphs.nodes.empty or not ops.steps:
        return []
    made, products = _multiplied(graphs)
    share = ops.share(ops.ran(made | products))
    percent = 100 * share.covered
    if not products.any() or percent < _WORTH_SAYING[0]:
        return []
    first = int(np.flatnonzero(made)[0])
    place = ops.place(int(creating_frames(graphs)[first]))
    classes = last_dimension(str(graphs.nodes["outputs"].iloc[first]))
    return [
        saving(
            percent,
            _WORTH_SAYING,
            _SAVED,
            finding=f"One-hot vectors of {_units.count(classes)} classes are multiplied by a matrix"
            f"{place and f' ({place})'}",
            evidence=f"The vectors and these products run in {_units.percent(percent)} of each step. All but one "
            "number of each vector is 0.",
            fix=f"Look the rows up instead: keras.layers.Embedding({classes}, units) on the class numbers computes the "
            "same without the vectors.",
            place=place,
            instead_of=(ONE_OP, *ONE_LAYER),
        )
    ]


def _multiplied(graphs: Graphs) -> tuple[Bools, Bools]:
    """Flag the large one-hot nodes that a product takes, and these products with their gradients."""
    op, inputs = graphs.nodes["op"].tolist(), graphs.nodes["inputs"].tolist()
    large = [
        kind == "OneHot" and last_dimension(str(outputs)) >= _LARGE
        for kind, outputs in zip(op, graphs.nodes["outputs"], strict=True)
    ]
    made, products = np.zeros(len(op), dtype=bool), np.zeros(len(op), dtype=bool)
    for node, kind in enumerate(op):
        if kind not in ("MatMul", "BatchMatMulV2", "Einsum"):
            continue
        for source in inputs[node]:
            origin = origin_of(source, op, inputs)
            if large[origin]:
                made[origin] = products[node] = True
    return made, products
