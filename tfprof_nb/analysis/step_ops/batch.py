"""How many examples a step trains on."""

import re
from collections.abc import Collection, Iterable

from tfprof_nb.decode.sections.graphs import Graphs

_BATCHED = re.compile(r"\w+\[(\d+)[,\]]")
_OF_ANY_SIZE = re.compile(r"\w+\[\?[,\]]")
_DATA = ("IteratorGetNext", "IteratorGetNextSync")


def batch_size(graphs: Graphs) -> int | None:
    """Return the size of the batches that steps take, if all of their tensors agree on it."""
    nodes, functions = graphs.nodes, graphs.functions
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
    return sizes.pop() if len(sizes) == 1 else batch_size(graphs)


def _common_size(tensors: Iterable[str]) -> int | None:
    sizes = {int(match[1]) for text in tensors if (match := _BATCHED.match(text))}
    return sizes.pop() if len(sizes) == 1 else None
