"""The four trees of a graph: by name scopes, by data flow, by op types, by the code that made the nodes."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import PurePosixPath

import numpy as np

from tfprof_nb._arrays import Bools, Floats, Int64
from tfprof_nb.analysis.events.names import MOST_SCOPES
from tfprof_nb.analysis.graph.model import COLUMN, METRICS, Frame, GraphModel
from tfprof_nb.analysis.graph.options import EVERYTHING, GraphOptions
from tfprof_nb.analysis.graph.selection import ROOT, Rules, Tree, matches, order, shown, wanted

_GRADIENT = " (gradient)"
_MAX_FUNCTION_NAME = 20
_GROUPED = Rules(grouped=True)


@dataclass(eq=False)
class Rows:
    """The rows of a view, in order.

    Attributes
    ----------
    names, depth
        Per row: its name and its depth.
    own, total
        The metrics of each row itself, and with all rows below it: rows by `METRICS`.
    nodes
        Per row: the nodes that it stands for.
    frames
        Per row of the code view: its line of code.
    """

    names: list[str]
    depth: Int64
    own: Floats
    total: Floats
    nodes: list[list[int]]
    frames: list[Frame | None] = field(default_factory=list)


View = Callable[[GraphModel, GraphOptions], Rows]


def scope_view(model: GraphModel, options: GraphOptions) -> Rows:
    """Return nodes by name scope: ``a/b`` is below ``a``; below a depth that no model has, scopes are not separated."""
    node = {name: number for number, name in enumerate(model.nodes["name"].tolist())}
    scopes = {name: [name[: slash.start()] for slash in islice(re.finditer("/", name), MOST_SCOPES)] for name in node}
    parent = {one: above for own in scopes.values() for above, one in pairwise([None, *own])}
    parent |= {name: own[-1] if own else None for name, own in scopes.items()}
    names = sorted(parent, key=lambda name: name.split("/"))
    row = {name: number for number, name in enumerate(names, 1)}
    parents = [row.get(parent[name], 0) for name in names]
    return _of_nodes(model, options, names, parents, [node.get(name, -1) for name in names], Rules())


def graph_view(model: GraphModel, options: GraphOptions) -> Rows:
    """Return nodes by data flow: below a node are those that it takes data from, each at its first occurrence."""
    names = model.nodes["name"].tolist()
    used = {source for sources in model.inputs for source in sources}
    roots = [node for node in sorted(range(len(names)), key=names.__getitem__) if node not in used]
    nodes: list[int] = []
    parents: list[int] = []
    seen: set[int] = set()
    stack = [(node, 0) for node in reversed(roots)]
    while stack:
        node, parent = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        nodes.append(node)
        parents.append(parent)
        stack.extend((source, len(nodes)) for source in reversed(model.inputs[node]))
    return _of_nodes(model, options, [names[node] for node in nodes], parents, nodes, Rules(lifts=True))


def _of_nodes(
    model: GraphModel, options: GraphOptions, names: list[str], parents: list[int], nodes: list[int], rules: Rules
) -> Rows:
    """Return a view whose rows stand for one node each; in ``nodes``, -1 is a scope that is no node."""
    metrics = np.vstack([model.metrics(options.step), np.zeros((1, len(METRICS)))])
    metrics[-1, COLUMN["definitions"]] = 1
    own = np.vstack([np.zeros((1, len(METRICS))), metrics[nodes]])
    counts = np.append(_counting(model, options), options.account_type_regexes == EVERYTHING)[nodes]
    groups = [[], *([node] if node >= 0 else [] for node in nodes)]
    tree = Tree.of([ROOT, *names], [-1, *parents], own, np.insert(counts, 0, True))
    tree, depth = shown(tree, options, rules)
    return Rows(tree.names.tolist(), depth, tree.own, tree.total, [groups[row] for row in tree.rows])


def _counting(model: GraphModel, options: GraphOptions) -> Bools:
    """Return per node whether one of its types counts."""
    types = model.nodes["types"]
    distinct = {kinds: bool(matches(kinds, options.account_type_regexes).any()) for kinds in set(types)}
    return types.map(distinct).to_numpy(np.bool_)


def op_view(model: GraphModel, options: GraphOptions) -> Rows:
    """Return nodes by op type, in a list. The total of a type is that of all types from it on."""
    counting = _counting(model, options)
    groups = model.nodes.groupby("op_type", sort=True).indices
    nodes = [[int(node) for node in members if counting[node]] for members in groups.values()]
    metrics, names = model.metrics(options.step), np.array(list(groups), object)
    own = np.array([metrics[some].sum(axis=0) for some in nodes]).reshape(-1, len(METRICS))
    rows = order(names, own, options.order_by)
    rows = rows[[bool(nodes[row]) or options.account_type_regexes == EVERYTHING for row in rows]]
    total = _from_here_on(own[rows])
    whole = total[:1].sum(axis=0)
    chosen = _chosen_types(names[rows].tolist(), own[rows], total, options)
    rows, total = rows[chosen], total[chosen]
    if options.account_displayed_op_only:
        total = _from_here_on(own[rows])
        whole = total[:1].sum(axis=0)
    return Rows(
        [ROOT, *names[rows]],
        np.array([0] + [1] * len(rows), np.int64),
        np.vstack([np.zeros((1, len(METRICS))), own[rows]]),
        np.vstack([whole[None], total]),
        [[], *(nodes[row] for row in rows)],
    )


def _from_here_on(own: Floats) -> Floats:
    sums: Floats = own[::-1].cumsum(axis=0)[::-1]
    return sums


def _chosen_types(names: Sequence[str], own: Floats, total: Floats, options: GraphOptions) -> Int64:
    """Return the places in the list to show: from the first start to the first trimmed type, or to the maximum depth.

    Arguments have one entry, or one row of `METRICS`, per type in the list.
    """
    starts = np.flatnonzero(matches(names, options.start_name_regexes))
    first = int(starts[0]) if len(starts) else (len(names) if options.start_name_regexes else 0)
    trimmed = np.flatnonzero(matches(names, options.trim_name_regexes)[first:])
    last = first + min([options.max_depth + 1, *trimmed[:1]])
    places = np.arange(first, max(min(last, len(names)), first))
    enough = own[:, COLUMN["definitions"]] >= options.min_occurrence
    return places[(wanted(names, own, total, options, _GROUPED) & enough)[places]]


def code_view(model: GraphModel, options: GraphOptions) -> Rows:
    """Return nodes by the calls that made them, the outermost first; gradients by the calls of their forward node."""
    names, traces = model.nodes["name"].tolist(), model.nodes["trace"].tolist()
    forward: dict[str, int] = {}
    backward: dict[str, list[int]] = defaultdict(list)
    for node in sorted((node for node, trace in enumerate(traces) if trace), key=names.__getitem__):
        gradient = _differentiated(names[node])
        if gradient:
            backward[gradient].append(node)
        else:
            forward[names[node]] = node
    calls = _Calls()
    for node in forward.values():
        calls.add(traces[node], "", [node])
    for name, nodes in sorted(backward.items()):
        if name in forward:
            calls.add(traces[forward[name]], _GRADIENT, nodes)
    return calls.rows(model, options)


def _differentiated(name: str) -> str:
    """Return the node whose gradient a node computes, by its name, ``.../gradients/<node>_grad/...``; else empty."""
    rest = name.partition("gradients/")[2]
    return rest[: max(rest.find("_grad/", 1), 0)]


class _Calls:
    """A growing tree of calls."""

    def __init__(self) -> None:
        self._children: list[dict[str, int]] = [{}]
        self._names: list[str] = [ROOT]
        self._frames: list[Frame | None] = [None]
        self._nodes: list[list[int]] = [[]]

    def add(self, trace: Sequence[Frame], suffix: str, nodes: Sequence[int]) -> None:
        """Add nodes to the innermost call of a trace."""
        call = 0
        for frame in trace:
            call = self._child(call, _written(frame) + suffix, frame)
        self._nodes[call].extend(nodes)

    def _child(self, call: int, name: str, frame: Frame) -> int:
        children = self._children[call]
        if name not in children:
            children[name] = len(self._names)
            self._children.append({})
            self._names.append(name)
            self._frames.append(frame)
            self._nodes.append([])
        return children[name]

    def rows(self, model: GraphModel, options: GraphOptions) -> Rows:
        """Return the rows of the tree to show."""
        numbers, parents = self._preorder()
        metrics, counting = model.metrics(options.step), _counting(model, options)
        nodes = [[node for node in self._nodes[number] if counting[node]] for number in numbers]
        own = np.array([metrics[some].sum(axis=0) for some in nodes])
        counts = np.array([bool(some) for some in nodes]) | (options.account_type_regexes == EVERYTHING)
        tree = Tree.of([self._names[number] for number in numbers], parents, own, counts)
        tree, depth = shown(tree, options, _GROUPED)
        frames = [self._frames[numbers[row]] for row in tree.rows]
        return Rows(tree.names.tolist(), depth, tree.own, tree.total, [nodes[row] for row in tree.rows], frames)

    def _preorder(self) -> tuple[list[int], list[int]]:
        numbers: list[int] = []
        parents: list[int] = []
        stack = [(0, -1)]
        while stack:
            number, parent = stack.pop()
            stack.extend((child, len(numbers)) for child in reversed(self._children[number].values()))
            numbers.append(number)
            parents.append(parent)
        return numbers, parents


def _written(frame: Frame) -> str:
    """Write a line as tfprof does: the file without its folder, the line, the function cut to 20 characters."""
    file, line, function = frame
    short = function if len(function) < _MAX_FUNCTION_NAME else f"{function[: _MAX_FUNCTION_NAME - 3]}..."
    return f"{PurePosixPath(file).name}:{line}:{short}"


VIEWS: dict[str, View] = {"scope": scope_view, "graph": graph_view, "op": op_view, "code": code_view}
