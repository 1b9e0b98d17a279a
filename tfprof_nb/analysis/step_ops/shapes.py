"""The shapes of the tensors that nodes take and make, and where a node's values come from; the size of batches."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from tfprof_nb._arrays import Bools
from tfprof_nb.decode.sections.graphs import Graphs

Shape: TypeAlias = "tuple[int, ...]"

# Ops that pass values on in another form.
_PASSING = ("Reshape", "Cast", "Identity", "ExpandDims", "Squeeze")
PRODUCTS = ("MatMul", "BatchMatMulV2", "Einsum")
_TENSOR = re.compile(r"\w+\[([\d,]*)\]")
_BATCHED = re.compile(r"\w+\[(\d+)[,\]]")
_OF_ANY_SIZE = re.compile(r"\w+\[\?[,\]]")
_DATA = ("IteratorGetNext", "IteratorGetNextSync")


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


def batch_size(graphs: Graphs, left_out: Collection[int] = ()) -> int | None:
    """Return the size of the batches that steps take, if all of their tensors agree on it.

    Functions of other steps, such as those that predict, may be left out.
    """
    nodes, functions = graphs.nodes[~graphs.nodes["function"].isin(left_out)], graphs.functions.drop([*left_out])
    known = functions.loc[functions["called"].astype(bool), "batch"].dropna()
    fetched = nodes.loc[nodes["op"].isin(_DATA), "outputs"].astype(str).str.split(";")
    given = [text for signature in functions["signature"] for _, kind, text in signature if kind == "tensor"]
    if len(known):
        return int(known.iloc[0])
    if any(_OF_ANY_SIZE.match(text) for text in given):  # traced again, for batches of other sizes
        return None
    return _common_size([text for outputs in fetched for text in outputs] or given)


def batch_size_of(graphs: Graphs, called: Collection[str]) -> int | None:
    """Return the size of the batches that some functions take, by their names.

    Of several, those whose tensors agree on a size decide: others may take only weights or gradients.
    """
    functions = graphs.functions[graphs.functions["name"].isin(called)]
    known = functions["batch"].dropna()
    if len(known):
        return int(known.iloc[0])
    given = [[text for _, kind, text in signature if kind == "tensor"] for signature in functions["signature"]]
    sizes = {size for texts in given if (size := _common_size(texts)) is not None}
    others = graphs.functions.index[graphs.functions["called"].astype(bool)].difference(functions.index)
    return sizes.pop() if len(sizes) == 1 else batch_size(graphs, others if len(functions) else ())


def _common_size(tensors: Iterable[str]) -> int | None:
    sizes = {int(match[1]) for text in tensors if (match := _BATCHED.match(text))}
    return sizes.pop() if len(sizes) == 1 else None
