import numpy as np

from tfprof_nb import _units
from tfprof_nb._arrays import Bools
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, at
from tfprof_nb.analysis.source.code import Code, line_at, place_of
from tfprof_nb.analysis.source.products import with_sparse
from tfprof_nb.analysis.step_ops.shapes import last_dimension, multiplied, sizes
from tfprof_nb.decode.sections.graphs import Graphs

_LARGE = 1000  # columns

RULE = Rule(
    "sparse-made-dense",
    "A sparse matrix is made dense to be multiplied",
    "Looks for products with a matrix of 1,000 columns or more that `tf.sparse.to_dense` made.",
    "The product then multiplies every zero, and the dense matrix has to be written and read.",
    action="Multiply the sparse matrix as it is",
    page="ops",
    moderate=20.0,
    high=40.0,
    saved=(0.4, None),
    supersedes=("dominant-op", "dominant-layer"),
    results="close",
)


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    ops = evidence.step_ops()
    graphs = ops.graphs
    if graphs.nodes.empty or not ops.steps:
        return
    made, products = _multiplied(graphs)
    percent = ops.percent(made | products)
    if not products.any():
        return
    made_at = ops.place(ops.frame_of(int(np.flatnonzero(made)[0])))
    columns = _rows_of_other(str(graphs.nodes["takes"].iloc[int(np.flatnonzero(products)[0])]))
    place, change = _instead(evidence.code, made_at)
    yield Case(
        percent,
        finding=f"A sparse matrix of {_units.count(columns)} columns is made dense and multiplied{at(made_at)}",
        evidence=f"Making it dense and the products with it, their gradients too, run in "
        f"{_units.percent(percent)} of each step. They multiply all of its zeros.",
        fix="Multiply it as it is: tf.sparse.sparse_dense_matmul(sparse, matrix) works on the numbers that it holds "
        "only. That is faster as long as few of its numbers are not 0.",
        place=place or made_at,
        change=change,
    )


def _instead(code: Code, place: str) -> tuple[str, str]:
    file, line = line_at(place)
    found = with_sparse(code, file, line) if line else None
    return (place_of(file, found.line), found.change) if found else ("", "")


def _multiplied(graphs: Graphs) -> tuple[Bools, Bools]:
    """Flag the nodes that make wide matrices dense, and the products that take these, with their gradients."""
    made, products = multiplied(graphs, graphs.nodes["op"].eq("SparseToDense").to_numpy(bool))
    wide = any(_rows_of_other(str(taken)) >= _LARGE for taken in graphs.nodes["takes"][products])
    return (made, products) if wide else (made & False, products & False)


def _rows_of_other(taken: str) -> int:
    """Return how many rows the second matrix of a product has, which are the columns of the first; 0 if unknown."""
    return last_dimension(taken) or next((shape[-2] for shape in sizes(taken) if len(shape) > 1), 0)
