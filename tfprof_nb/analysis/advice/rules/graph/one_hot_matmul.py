from collections.abc import Sequence

import numpy as np

from tfprof_nb import _units
from tfprof_nb._arrays import Bools
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at, quoted
from tfprof_nb.analysis.source.code import Code, line_at, place_of
from tfprof_nb.analysis.source.placed_ops import creating_frames
from tfprof_nb.analysis.source.products import Product, lookups
from tfprof_nb.analysis.step_ops.shapes import last_dimension, multiplied, origin_of, sizes
from tfprof_nb.decode.sections.graphs import Graphs

_LARGE = 1000  # classes

RULE = Rule(
    "one-hot-matmul",
    "One-hot vectors are multiplied by a matrix",
    "Looks for products of a matrix and one-hot vectors of 1,000 classes or more.",
    "Each vector has a single 1, so the product is a row of the matrix: a lookup returns it directly.",
    action="Look the rows up",
    page="ops",
    moderate=20.0,
    high=40.0,
    saved=(0.4, 1.0),
    supersedes=("dominant-op", "dominant-layer"),
    results="equal",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    graphs = ops.graphs
    if graphs.nodes.empty or not ops.steps:
        return
    large = graphs.nodes["outputs"].map(lambda outputs: last_dimension(str(outputs)) >= _LARGE).to_numpy(bool)
    made, products = multiplied(graphs, large & graphs.nodes["op"].eq("OneHot").to_numpy(bool))
    percent = ops.percent(made | products)
    if not products.any():
        return
    first = int(np.flatnonzero(made)[0])
    place = ops.place(int(graphs.once(creating_frames)[first]))
    classes = last_dimension(str(graphs.nodes["outputs"].iloc[first]))
    by_hand = _updated_by_hand(evidence.code) if _of_weights(graphs, products) else ""
    made_at = list(dict.fromkeys(map(ops.place, graphs.once(creating_frames)[np.flatnonzero(made)])))
    instead = _instead(evidence.code, made_at) if _of_matrices(graphs, products) else []
    yield Case(
        percent,
        finding=f"One-hot vectors of {_units.count(classes)} classes are multiplied by a matrix{at(place)}",
        evidence=f"The vectors and these products run in {_units.percent(percent)} of each step. All but one "
        "number of each vector is 0.",
        fix=_fix(instead, classes, by_hand),
        place=instead[0][0] if instead else place,
        change=instead[0][1].change if instead and not by_hand else "",
        without_change=_fix([], classes, by_hand),
    )


def _instead(code: Code, places: Sequence[str]) -> list[tuple[str, Product]]:
    """Return the products that take the vectors made at some places, each with its place."""
    made_at = [line_at(place) for place in places]
    return [(place_of(file, one.line), one) for file, line in made_at if line for one in lookups(code, file, line)]


def _fix(instead: Sequence[tuple[str, Product]], classes: int, by_hand: str) -> str:
    """Say how to compute the same without the vectors."""
    if not instead:
        return (
            "Look the rows up instead: tf.gather(matrix, numbers), or for trained weights "
            f"keras.layers.Embedding({classes}, units) on the class numbers, computes the same without the vectors."
            f"{by_hand}"
        )
    lines = [f"{quoted(product.change, 100)} ({place})" for place, product in instead]
    others = f" Also {'; '.join(lines[1:])}." if len(lines) > 1 else ""
    how = "Add the rows up" if instead[0][1].transposed else "Look the rows up"
    return (
        f"{how} instead: {lines[0] if by_hand else 'that'} computes the same without the vectors, if all numbers are "
        f"below {_units.count(classes)}.{others}{by_hand}"
    )


def _updated_by_hand(code: Code) -> str:
    """Say what to do about a line that subtracts gradients; empty if there is none."""
    place = code.place_with(r"\.assign_sub\(")
    return (
        " The gradient of the matrix then has only the rows that were looked up (tf.IndexedSlices): in place of "
        f"{quoted(code.at(place))} ({place}), `matrix.scatter_sub(tf.IndexedSlices(rate * gradient"
        ".values, gradient.indices))` takes it, as do optimizers of Keras."
        if place
        else ""
    )


def _of_weights(graphs: Graphs, products: Bools) -> bool:
    """Whether a product has weights, which are variables."""
    op, inputs = graphs.nodes["op"].tolist(), graphs.nodes["inputs"].tolist()
    forward = products & (graphs.nodes["forward"] < 0).to_numpy(bool)
    sources = (source for node in np.flatnonzero(forward) for source in inputs[node])
    return any(op[origin_of(source, op, inputs)] == "ReadVariableOp" for source in sources)


def _of_matrices(graphs: Graphs, products: Bools) -> bool:
    """Whether the products are those of vectors for the rows of a matrix: a lookup has the same form."""
    forward = products & (graphs.nodes["forward"] < 0).to_numpy(bool)
    taken = [sizes(str(one)) for one in graphs.nodes["takes"][forward]]
    return all(len(shape) == 2 for one in taken for shape in one[1:])
