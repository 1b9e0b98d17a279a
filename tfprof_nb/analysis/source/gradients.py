"""Which op each op of a backward pass is the gradient of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.decode.graphs import Graphs

# A function that ran under a tape is two: "__forward_step_91" and "__inference___backward_step_43_92".
_BACKWARD = re.compile(r"__backward_(?P<name>.*?)(?:_\d+)?_(?P<number>\d+)$")
_FORWARD = re.compile(r"^__forward_(?P<name>.*)_(?P<number>\d+)$")
_PREFIX, _SUFFIX = "gradients/", "_grad"


def forward_nodes(graphs: Graphs) -> Int64:
    """Return for each node the one whose gradient it computes, or -1; also across functions that belong together.

    In a function of its own, a backward pass names its nodes ``gradients/<node of the forward function>_grad/...``.
    """
    nodes = graphs.nodes
    forward = nodes["forward"].to_numpy(np.int64).copy()
    for backward, partner in _partners(graphs.functions["name"]):
        known = nodes.index[nodes["function"] == partner]
        by_name = dict(zip(nodes["name"][known], known, strict=True))
        own = nodes.index[(nodes["function"] == backward) & (nodes["forward"] < 0)]
        forward[own] = [_named(name, by_name) for name in nodes["name"][own]]
    return forward


def _partners(names: pd.Series[Any]) -> Iterator[tuple[int, int]]:
    """Yield functions of backward passes with the forward functions that they belong to: the last made before them."""
    matches = [(number, _FORWARD.match(name)) for number, name in enumerate(names)]
    forwards = [(match["name"], int(match["number"]), number) for number, match in matches if match]
    for number, name in enumerate(names):
        backward = _BACKWARD.search(name)
        made = int(backward["number"]) if backward else 0
        before = [(at, row) for own, at, row in forwards if backward and own == backward["name"] and at <= made]
        if before:
            yield number, max(before)[1]


def _named(name: str, nodes: dict[str, int]) -> int:
    """Return the forward node that the name of a backward node tells, -1 for none."""
    if not name.startswith(_PREFIX):
        return -1
    ends = [match.start() for match in re.finditer(rf"{_SUFFIX}(?=/|$)", name)]
    return next((nodes[name[len(_PREFIX) : end]] for end in ends if name[len(_PREFIX) : end] in nodes), -1)
