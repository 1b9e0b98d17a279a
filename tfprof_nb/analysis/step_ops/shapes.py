"""The shapes of the tensors that nodes take and make, and where a node's values come from."""

import re
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from tfprof_nb._arrays import Bools
from tfprof_nb.decode.sections.graphs import Graphs

Shape: TypeAlias = "tuple[int, ...]"

# Ops that pass values on in another form.
_PASSING = ("Reshape", "Cast", "Identity", "ExpandDims", "Squeeze")
PRODUCTS = ("MatMul", "BatchMatMulV2", "Einsum")
_TENSOR = re.compile(r"\w+\[([\d,]*)\]")


def sizes(tensors: str) -> list[Shape]:
    """Return the shapes in a text of `Graphs.nodes`, without tensors of which a size is unknown.

    Examples
    --------
    >>> sizes("float32[32,10];int64[];float32[?,3]")
    [(32, 10), ()]
    """
    shapes = (_TENSOR.fullmatch(tensor) for tensor in tensors.split(";"))
    return [tuple(map(int, filter(None, shape[1].split(",")))) for shape in shapes if shape]


def last_dimension(tensors: str) -> int:
    """Return the last size of the first of some tensors, ``float32[?,20000]``; 0 if it is unknown or there is none."""
    shape = re.match(r"\w+\[(?:[^;]*,)?(\d+)\]", tensors)
    return int(shape[1]) if shape else 0


def origin_of(node: int, ops: Sequence[str], inputs: Sequence[Sequence[int]]) -> int:
    """Return the node whose values a node passes on in another form."""
    while ops[node] in _PASSING and inputs[node]:
        node = inputs[node][0]
    return node


def multiplied(graphs: Graphs, wanted: Bools) -> tuple[Bools, Bools]:
    """Flag which of some nodes products of matrices take, and these products, those of their gradients too."""
    op, inputs = graphs.nodes["op"].tolist(), graphs.nodes["inputs"].tolist()
    made, products = np.zeros(len(op), dtype=bool), np.zeros(len(op), dtype=bool)
    for node in np.flatnonzero(graphs.nodes["op"].isin(PRODUCTS)):
        for source in inputs[node]:
            origin = origin_of(source, op, inputs)
            if wanted[origin]:
                made[origin] = products[node] = True
    return made, products
