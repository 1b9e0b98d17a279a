"""The forward op of each op of a backward pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.decode.sections.graphs import Graphs

# A function under a tape becomes two: "__forward_step_91" and "__inference___backward_step_43_92".
_BACKWARD = re.compile(r"__backward_(?P<name>.*?)(?:_\d+)?_(?P<number>\d+)$")
_FORWARD = re.compile(r"^__forward_(?P<name>.*)_(?P<number>\d+)$")
_PREFIX, _SUFFIX = "gradients/", "_grad"
_OF_LOOP = f"/{_PREFIX}"


def forward_nodes(graphs: Graphs) -> Int64:
    """Return for each node the node whose gradient it computes, -1 for none; also across functions.

    A backward pass in a function of its own names its nodes ``gradients/<node of the forward function>_grad/...``, and
    that of a loop's body the same, behind the name of the loop.
    """
    nodes = graphs.nodes
    forward = nodes["forward"].to_numpy(np.int64).copy()
    for backward, partner in _partners(graphs.functions["name"]):
        known = nodes.index[nodes["function"] == partner]
        by_name = dict(zip(nodes["name"][known], known, strict=True))
        own = nodes.index[(nodes["function"] == backward) & (nodes["forward"] < 0)]
        forward[own] = [_named(name, by_name) for name in nodes["name"][own]]
    _in_loops(nodes, forward)
    return forward


def _in_loops(nodes: pd.DataFrame, forward: Int64) -> None:
    """Set the forward nodes of the gradients of loops' bodies: those of the last functions made before theirs."""
    is_gradient = nodes["name"].str.contains(_OF_LOOP, regex=False)
    own = nodes[is_gradient & (forward < 0)]
    for function, rows in own.groupby("function"):
        made_before = nodes[~is_gradient & (nodes["function"] < function)]
        by_name = dict(zip(made_before["name"], made_before.index, strict=True))
        forward[rows.index] = [_named(name[name.index(_OF_LOOP) + 1 :], by_name) for name in rows["name"]]


def _partners(names: pd.Series[Any]) -> Iterator[tuple[int, int]]:
    """Yield functions of backward passes with their forward functions, which are the last made before them."""
    matches = [(function, _FORWARD.match(name)) for function, name in enumerate(names)]
    forwards = [(match["name"], int(match["number"]), function) for function, match in matches if match]
    for function, name in enumerate(names):
        if backward := _BACKWARD.search(name):
            made = int(backward["number"])
            before = [(at, forward) for own, at, forward in forwards if own == backward["name"] and at <= made]
            if before:
                yield function, max(before)[1]


def _named(name: str, nodes: dict[str, int]) -> int:
    """Return the forward node that a backward node's name contains, -1 for none; ``nodes`` are given by name."""
    if not name.startswith(_PREFIX):
        return -1
    ends = [match.start() for match in re.finditer(rf"{_SUFFIX}(?=/|$)", name)]
    return next((nodes[name[len(_PREFIX) : end]] for end in ends if name[len(_PREFIX) : end] in nodes), -1)
