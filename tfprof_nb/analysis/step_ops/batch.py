"""How many examples a step trains on."""

from __future__ import annotations

import re

from tfprof_nb.decode.sections.graphs import Graphs

_BATCHED = re.compile(r"\w+\[(\d+)[,\]]")
_DATA = ("IteratorGetNext", "IteratorGetNextSync")


def batch_size(graphs: Graphs) -> int | None:
    """Return the size of the batches that steps take, if all of their tensors agree on it."""
    nodes, functions = graphs.nodes, graphs.functions
    known = functions.loc[functions["called"].astype(bool), "batch"].dropna()
    fetched = nodes.loc[nodes["op"].isin(_DATA), "outputs"].astype(str).str.split(";")
    given = [text for signature in functions["signature"] for _, kind, text in signature if kind == "tensor"]
    texts = [text for outputs in fetched for text in outputs] or given
    sizes = {int(match[1]) for text in texts if (match := _BATCHED.fullmatch(text) or _BATCHED.match(text))}
    if len(known):
        return int(known.iloc[0])
    return sizes.pop() if len(sizes) == 1 else None
