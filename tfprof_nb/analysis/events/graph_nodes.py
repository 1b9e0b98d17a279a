"""Which node of which function each op's event belongs to.

The runtime names the event of a node in a called function ``<caller's node>/<node>``, and of a node in a loop or a
branch ``<node>/<role>/_<number>/<node>``. TensorFlow's graph optimizer adds words of its own to names.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.links import EXECUTOR, links
from tfprof_nb.analysis.events.names import Category
from tfprof_nb.analysis.events.op_labels import label_all_ops
from tfprof_nb.decode.sections.graphs import Graphs
from tfprof_nb.formats.xspace import DISPATCH

_NO_FUNCTION, _ANY_FUNCTION = -2, -1
_MAX_DEPTH, _MAX_CALLS = 30, 20_000  # functions that call themselves have no end, or branch without end
_ROLE = re.compile(r"/(then|else|body|cond|branch\d+)/_\d+/")
# What grappler adds: "ArithmeticOptimizer/ReplaceMulWithSquare_mul", "x-0-TransposeNHWCToNCHW-LayoutOptimizer".
_ADDED = (
    re.compile(r"(?<![^/])(?:Arithmetic|ConstantFolding|Layout|Loop|Remapper)(?:Optimizer)?/(?:[A-Z][A-Za-z]+_)?"),
    re.compile(r"(?:__cf__\d+|/_\d+)$"),
    re.compile(r"-.*$"),
)


def graph_nodes(forest: Forest, graphs: Graphs) -> Int64:
    """Return for each event of one host the number of the node that it ran, -1 for none.

    The event of a fused op belongs to the node whose name it has. If several functions have nodes of one name, the
    function that Python called decides. For events of tf.data that function is not known: its own functions are then
    searched first.
    """
    labels = forest.once(label_all_ops)
    node = np.full(len(forest.host), -1, dtype=np.int64)
    ops = np.flatnonzero(labels.code >= 0)
    if not len(graphs.nodes) or not len(ops):
        return node
    # A number for each pair of a function and an op: few of them differ.
    pairs = (_roots(forest, graphs, ops) - _NO_FUNCTION) * len(labels.op_name) + labels.code[ops]
    which, distinct = pd.factorize(pairs)
    roots, codes = np.divmod(distinct, len(labels.op_name))
    names = _NodeNames(graphs)
    op_names = labels.op_name[codes].tolist()
    nodes = [names.find(*pair) for pair in zip((roots + _NO_FUNCTION).tolist(), op_names, strict=True)]
    node[ops] = np.array(nodes, dtype=np.int64)[which]
    return node


def _roots(forest: Forest, graphs: Graphs, ops: Int64) -> Int64:
    """Return for each op's event the function that Python called for it, `_NO_FUNCTION` for an eager op."""
    host = forest.host
    functions = {f"{DISPATCH}{name}": number for number, name in enumerate(graphs.functions["name"])}
    dispatches = np.flatnonzero(forest.name_starts(DISPATCH))
    called = np.array([functions.get(host.names[code], _NO_FUNCTION) for code in host.metadata[dispatches]], np.int64)
    causes, effects = forest.once(links)
    cause = np.full(len(host), -1, dtype=np.int32)
    cause[effects] = causes
    executors = np.flatnonzero(forest.named(EXECUTOR))
    which, starters = pd.factorize(cause[executors])  # one event starts many executors
    # An executor runs a function, even if what started it was not recorded.
    run = np.maximum(_at(called, forest.nearest_ancestor(np.maximum(starters, 0), dispatches)), _ANY_FUNCTION)
    run[starters < 0] = _ANY_FUNCTION
    iterators = np.flatnonzero(forest.with_names(forest.names.category == Category.TF_DATA))
    contexts = np.concatenate([dispatches, executors, iterators])
    roots = np.concatenate([called, run[which], np.full(len(iterators), _ANY_FUNCTION)])
    launches = np.where(forest.on_device[ops] & (cause[ops] >= 0), cause[ops], ops) if forest.on_device.any() else ops
    root = _at(roots, forest.nearest_ancestor(launches, contexts))
    root[np.isin(ops, dispatches)] = _NO_FUNCTION  # eager ops of which only the dispatch was recorded
    return root


def _at(values: Int64, places: Int64) -> Int64:
    """Return the values at some places, `_ANY_FUNCTION` where the place is -1."""
    return np.append(values, _ANY_FUNCTION)[places]


class _NodeNames:
    """The names that events of nodes have, by the function that Python called."""

    def __init__(self, graphs: Graphs) -> None:
        self._nodes: dict[Any, pd.Series[Any]] = dict(iter(graphs.nodes.groupby("function")["name"]))
        self._calls = defaultdict[int, list[tuple[int, str, int]]](list)
        callers = graphs.nodes["function"].to_numpy()
        for node, role, function in graphs.calls[["node", "role", "function"]].itertuples(index=False):
            self._calls[int(callers[node])].append((node, role, function))
        python = graphs.functions["called"].astype(bool)
        inner = graphs.functions.index.isin(graphs.calls["function"])
        self._searched = [*graphs.functions.index[~python & ~inner], *graphs.functions.index[python]]
        self._calls_left = _MAX_CALLS
        self._known: dict[int, dict[str, int]] = {_NO_FUNCTION: {}}

    def find(self, root: int, name: str) -> int:
        """Return the node that an event of this name ran, -1 for none."""
        known = self._of(root)
        return next((known[spelled] for spelled in _spellings(name) if spelled in known), -1)

    def _of(self, root: int) -> dict[str, int]:
        if root not in self._known:
            roots = self._searched if root == _ANY_FUNCTION else [root]
            self._calls_left = _MAX_CALLS
            pairs = [pair for function in roots for pair in self._spread(int(function), "", 0)]
            self._known[root] = dict(reversed(pairs))  # of several nodes of one name, the first counts
        return self._known[root]

    def _spread(self, function: int, prefix: str, depth: int) -> Iterator[tuple[str, int]]:
        """Yield the names of a function's nodes, and of those of the functions that it calls."""
        names = self._nodes.get(function, pd.Series(dtype=object))
        yield from zip(prefix + names, names.index.tolist(), strict=True)
        for node, role, called in self._calls[function] if depth < _MAX_DEPTH else ():
            if not self._calls_left:
                return
            self._calls_left -= 1
            inner = f"{prefix}{names[node]}/" if role == "call" else f"{prefix}{names[node]}/{role}/"
            yield from self._spread(called, inner, depth + 1)


def _spellings(name: str) -> Iterator[str]:
    """Yield the names that the node may have: without the numbers of roles, then without what the optimizer added."""
    name = _ROLE.sub(r"/\1/", name)
    yield name
    for added in _ADDED:
        name = added.sub("", name)
        yield name
