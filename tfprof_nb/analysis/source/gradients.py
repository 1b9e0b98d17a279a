"""The forward op of each op of a backward pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb.decode.sections.graphs import Graphs
from tfprof_nb.formats.sidecar import SESSION_GRAPH_NAME

# A function under a tape becomes two: "__forward_step_91" and "__inference___backward_step_43_92".
_BACKWARD = re.compile(r"__backward_(?P<name>.*?)(?:_\d+)?_(?P<number>\d+)$")
_FORWARD = re.compile(r"^__forward_(?P<name>.*)_(?P<number>\d+)$")
# The body of a loop has its gradient in a function that is named after it; what it keeps for that is added to a copy.
_LOOP_BACKWARD = re.compile(r"^(?P<name>.*)_grad_\d+$")
_REWRITTEN = "_rewritten"
_PREFIX, _SUFFIX = re.compile(r"(?:^|(?<=/))gradients(?:_\d+)?/"), "_grad"


def forward_nodes(graphs: Graphs) -> Int64:
    """Return for each node the node whose gradient it computes, -1 for none; also across functions.

    A backward pass in a function of its own, or in a session's graph, names its nodes
    ``gradients/<forward node>_grad/...``, that of a loop's body with the loop's scopes before it.
    """
    nodes = graphs.nodes
    forward = nodes["forward"].to_numpy(np.int64).copy()
    for backward, partner in _partners(graphs.functions["name"]):
        known = nodes.index[nodes["function"] == partner]
        by_name = dict(zip(nodes["name"][known], known, strict=True))
        own = nodes.index[(nodes["function"] == backward) & (nodes["forward"] < 0)]
        forward[own] = [_named(name, by_name) for name in nodes["name"][own]]
    return forward


def with_gradients(graphs: Graphs, own: Bools) -> Bools:
    """Flag some nodes, and those that compute their gradients."""
    forward = graphs.once(forward_nodes)
    gradients: Bools = (forward >= 0) & own[forward.clip(0)]
    return own | gradients


def _partners(names: pd.Series[Any]) -> Iterator[tuple[int, int]]:
    """Yield functions of backward passes with their forward functions, which are the last made before them."""
    yield from ((graph, graph) for graph, name in enumerate(names) if name.startswith(SESSION_GRAPH_NAME))
    bodies = {name.removesuffix(_REWRITTEN): function for function, name in enumerate(names)}
    for function, name in enumerate(names):
        if (loop := _LOOP_BACKWARD.match(name)) and loop["name"] in bodies:
            yield function, bodies[loop["name"]]
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
    for prefix in _PREFIX.finditer(name):
        named = name[prefix.end() :]
        ends = [match.start() for match in re.finditer(rf"{_SUFFIX}(?=/|$)", named)]
        if found := [nodes[named[:end]] for end in ends if named[:end] in nodes]:
            return found[0]
    return -1
