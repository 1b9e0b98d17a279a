"""Which node of which function each op's event belongs to.

Events are named as the runtime took graphs apart: a node of a called function as ``<caller's node>/<node>``, one in a
loop or a branch as ``<node>/<role>/_<number>/<node>``; TensorFlow's graph optimizer puts words of its own around names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.links import links
from tfprof_nb.analysis.events.names import Category
from tfprof_nb.analysis.events.op_labels import OpLabels, label_ops
from tfprof_nb.decode.graphs import Graphs

_DISPATCH = "EagerLocalExecute: "
_NO_FUNCTION, _ANY_FUNCTION = -2, -1
_DEEPEST = 30  # functions that call themselves have no end
_ROLE = re.compile(r"/(then|else|body|cond|branch\d+)/_\d+/")
# What grappler adds: "ArithmeticOptimizer/ReplaceMulWithSquare_mul", "x-0-TransposeNHWCToNCHW-LayoutOptimizer".
_ADDED = (
    re.compile(r"(?<![^/])(?:Arithmetic|ConstantFolding|Layout|Loop|Remapper)(?:Optimizer)?/(?:[A-Z][A-Za-z]+_)?"),
    re.compile(r"(?:__cf__\d+|/_\d+)$"),
    re.compile(r"-.*$"),
)


def graph_nodes(forest: Forest, graphs: Graphs, labels: OpLabels | None = None) -> Int64:
    """Return for each event of one host the number of the node that it ran, -1 for none.

    The event of a fused op belongs to the node whose name it bears. A name that several functions use is told apart by
    the function that Python called. What runs for tf.data does not say so: its functions are then searched first.

    Parameters
    ----------
    forest
        One host's events.
    graphs
        The functions that ran there.
    labels
        The events' ops, where they are known already.
    """
    labels = label_ops(forest) if labels is None else labels
    node = np.full(len(forest.host), -1, dtype=np.int64)
    rows = np.flatnonzero(labels.code >= 0)
    if not len(graphs.nodes) or not len(rows):
        return node
    events = pd.DataFrame({"root": _roots(forest, graphs, rows), "code": labels.code[rows]})
    which, distinct = pd.factorize(pd.MultiIndex.from_frame(events))
    names = _Names(graphs)
    found = [names.find(root, str(labels.op_name[code])) for root, code in distinct]
    node[rows] = np.array(found, dtype=np.int64)[which]
    return node


def _roots(forest: Forest, graphs: Graphs, rows: Int64) -> Int64:
    """Return for each row the function that Python called for it, `_NO_FUNCTION` for an eager op."""
    host = forest.host
    functions = {f"{_DISPATCH}{name}": number for number, name in enumerate(graphs.functions["name"])}
    dispatches = np.flatnonzero(forest.names_starting(_DISPATCH)[host.metadata])
    called = np.array([functions.get(host.names[code], _NO_FUNCTION) for code in host.metadata[dispatches]], np.int64)
    causes, effects = forest.once(links)
    cause = np.full(len(host), -1, dtype=np.int64)
    cause[effects] = causes
    executors = np.flatnonzero(forest.named("ExecutorState::Process"))
    # An executor runs a function, also where what started it is not recorded.
    run = np.maximum(_at(called, forest.nearest_ancestor(np.maximum(cause[executors], 0), dispatches)), _ANY_FUNCTION)
    run[cause[executors] < 0] = _ANY_FUNCTION
    iterators = np.flatnonzero((forest.names.category == Category.TF_DATA)[host.metadata])
    contexts = np.concatenate([dispatches, executors, iterators])
    roots = np.concatenate([called, run, np.full(len(iterators), _ANY_FUNCTION)])
    launches = np.where(forest.on_device[rows] & (cause[rows] >= 0), cause[rows], rows)
    found = _at(roots, forest.nearest_ancestor(launches, contexts))
    found[np.isin(rows, dispatches)] = _NO_FUNCTION  # an eager op that left no more than its dispatch
    return found


def _at(values: Int64, places: Int64) -> Int64:
    """Return the values at some places, `_ANY_FUNCTION` where the place is -1."""
    return np.append(values, _ANY_FUNCTION)[places]


class _Names:
    """What events of each function's nodes are called, by the function that Python called."""

    def __init__(self, graphs: Graphs) -> None:
        self._nodes: dict[Any, pd.Series[Any]] = dict(iter(graphs.nodes.groupby("function")["name"]))
        self._calls = defaultdict[int, list[tuple[int, str, int]]](list)
        callers = graphs.nodes["function"].to_numpy()
        for node, role, function in graphs.calls[["node", "role", "function"]].itertuples(index=False):
            self._calls[int(callers[node])].append((node, role, function))
        python = graphs.functions["called"].astype(bool)
        inner = graphs.functions.index.isin(graphs.calls["function"])
        self._searched = [*graphs.functions.index[~python & ~inner], *graphs.functions.index[python]]
        self._known: dict[int, dict[str, int]] = {_NO_FUNCTION: {}}

    def find(self, root: int, name: str) -> int:
        """Return the node that an event of this name ran, -1 for none."""
        known = self._of(root)
        return next((known[spelled] for spelled in _spellings(name) if spelled in known), -1)

    def _of(self, root: int) -> dict[str, int]:
        if root not in self._known:
            roots = self._searched if root == _ANY_FUNCTION else [root]
            pairs = [pair for function in roots for pair in self._spread(int(function), "", 0)]
            self._known[root] = dict(reversed(pairs))  # the first of a name counts
        return self._known[root]

    def _spread(self, function: int, prefix: str, depth: int) -> Iterator[tuple[str, int]]:
        """Yield the names of a function's nodes, and of those of the functions that it calls."""
        names = self._nodes.get(function, pd.Series(dtype=object))
        yield from zip(prefix + names, names.index.tolist(), strict=True)
        for node, role, called in self._calls[function] if depth < _DEEPEST else ():
            inner = f"{prefix}{names[node]}/" if role == "call" else f"{prefix}{names[node]}/{role}/"
            yield from self._spread(called, inner, depth + 1)


def _spellings(name: str) -> Iterator[str]:
    """Yield the name as a node may have it: without numbers of roles, then without what the optimizer added."""
    name = _ROLE.sub(r"/\1/", name)
    yield name
    for added in _ADDED:
        name = added.sub("", name)
        yield name
