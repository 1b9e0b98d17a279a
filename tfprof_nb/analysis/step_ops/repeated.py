"""Values that a function computes again in every call: from nothing that changes, or only from the batch of data."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools
from tfprof_nb.analysis.source.owners import UPDATING
from tfprof_nb.analysis.source.placed_ops import users_traces
from tfprof_nb.analysis.step_ops.step_ops import LOOP_ROLES
from tfprof_nb.decode.sections.graphs import Graphs
from tfprof_nb.formats.xspace import DATASET_OPS

# Ops whose results differ from call to call, by parts of their types.
_CHANGING = (
    *("Random", "Shuffle", "Multinomial", "PyFunc", "Queue", "Placeholder", "Timestamp", "Rng", "StatefulUniform"),
    *("Iterator", "Dataset", "OptionalFromValue", "Recv", "Collective"),
)


@dataclass(frozen=True, eq=False)
class Repeated:
    """Flags per node.

    Attributes
    ----------
    constant
        It computes the same in every call.
    of_data
        It depends on the batch, and on nothing else that changes: not on chance, nor on weights that are trained.
    """

    constant: Bools
    of_data: Bools


def repeated(graphs: Graphs) -> Repeated:
    """Find the nodes that compute the same in every call, or the same from the same batch."""
    from_nothing = _Flow(graphs, data_changes=True).unchanged()
    from_data = _Flow(graphs, data_changes=False).unchanged()
    return Repeated(from_nothing, from_data & ~from_nothing)


_Reached = tuple[str, int, int]
"""A node (``"node", 0, node``), or an argument of a function (``"argument", function, argument``)."""


class _Flow:
    """Follows what changes from call to call through all functions."""

    def __init__(self, graphs: Graphs, *, data_changes: bool) -> None:
        self._graphs, self._data_changes = graphs, data_changes
        self._op = graphs.nodes["op"].to_numpy(dtype=object)
        self._function = graphs.nodes["function"].tolist()
        self._callees = defaultdict[int, list[tuple[str, int]]](list)
        self._callers = defaultdict[int, list[int]](list)
        for node, role, function in graphs.calls[["node", "role", "function"]].itertuples(index=False):
            self._callees[node].append((role, function))
            self._callers[function].append(node)
        # Who takes a node or an argument, and at which place.
        self._takers = defaultdict[_Reached, list[tuple[int, int]]](list)
        self._arguments = defaultdict[int, set[_Reached]](set)
        places = defaultdict[int, set[int]](set)
        for node, place, argument in graphs.arguments.itertuples(index=False):
            taken: _Reached = ("argument", self._function[node], argument)
            self._takers[taken].append((node, place))
            self._arguments[self._function[node]].add(taken)
            places[node].add(place)
        for node, inputs in enumerate(graphs.nodes["inputs"]):
            free = (place for place in count() if place not in places[node])
            for source, place in zip(inputs, free, strict=False):
                self._takers["node", 0, source].append((node, place))

    def unchanged(self) -> Bools:
        """Return per node whether nothing that changes reaches it."""
        reached = set[_Reached]()
        waiting = list(self._beginnings())
        while waiting:
            one = waiting.pop()
            if one not in reached:
                reached.add(one)
                waiting += self._effects(one)
        changed = [node for kind, _, node in reached if kind == "node"]
        unchanged = np.ones(len(self._op), dtype=bool)
        unchanged[changed] = False
        return unchanged

    def _effects(self, changed: _Reached) -> Iterator[_Reached]:
        """Yield what a change reaches at once; a function's results change if anything in it does."""
        kind, _, node = changed
        if kind == "node":
            yield from (("node", 0, caller) for caller in self._callers[self._function[node]])
        for taker, place in self._takers[changed]:
            yield "node", 0, taker
            for role, function in self._callees[taker]:
                if role in LOOP_ROLES:  # a change goes round the loop
                    yield from self._arguments[function]
                else:
                    yield "argument", function, place - (role != "call")

    def _beginnings(self) -> Iterator[_Reached]:
        """Yield the nodes whose results change by themselves, and the arguments that are given anew."""
        nodes, variables, functions = self._graphs.nodes, self._graphs.variables, self._graphs.functions
        variable = nodes["variable"].to_numpy(np.int64)
        changing = np.append(variables["trainable"].to_numpy(bool), False)
        updates = np.array([op.startswith(UPDATING) for op in self._op], dtype=bool)
        changing[variable[updates & (variable >= 0)]] = True
        reads = changing[variable] & (variable >= 0) & ~nodes.index.isin(self._callees)
        data = np.isin(self._op, DATASET_OPS)
        own = np.array([any(part in op for part in _CHANGING) for op in self._op], dtype=bool)
        changed = reads | updates | (data & self._data_changes) | (own & ~data)
        yield from (("node", 0, node) for node in np.flatnonzero(changed).tolist())
        if self._data_changes:
            given = functions["given"].tolist()
            for kind, function, argument in list(self._takers):
                if kind == "argument" and function not in self._callers and argument < given[function]:
                    yield kind, function, argument


def constant_lines(graphs: Graphs, constant: Bools, op_ms: pd.Series) -> pd.DataFrame:
    """Sum the time of constant nodes by the outermost line that only makes constant nodes, or else by their own line.

    Parameters
    ----------
    graphs, constant
        The functions, and per node whether it is constant.
    op_ms
        The time of each node that ran.

    Returns
    -------
    DataFrame
        ``frame op_ms whole``, the most expensive first; ``whole`` is whether all that the line makes is constant.
    """
    traces = [*users_traces(graphs), []]
    trace = graphs.nodes["trace"].to_numpy(np.int64)
    pure = graphs.nodes["op"].ne("Const").to_numpy(bool)
    varied = {frame for number in set(trace[~constant & pure].tolist()) for frame in traces[number]}
    times = op_ms[constant[op_ms.index]]
    rows = []
    for number, spent in times.groupby(trace[times.index]).sum().items():
        own = traces[int(str(number))]
        whole = [frame for frame in own if frame not in varied]
        if own:
            rows.append((whole[-1] if whole else own[0], float(spent), bool(whole)))
    table = pd.DataFrame(rows, columns=["frame", "op_ms", "whole"])
    table = table.groupby("frame", as_index=False).agg({"op_ms": "sum", "whole": "all"})
    return table.sort_values("op_ms", ascending=False, ignore_index=True)


def trains(graphs: Graphs) -> bool:
    """Whether some function updates trainable variables."""
    nodes, variables = graphs.nodes, graphs.variables
    updates = nodes["op"].str.startswith(UPDATING) & (nodes["variable"] >= 0)
    return bool(variables["trainable"].iloc[nodes["variable"][updates]].any())


def has_chance(graphs: Graphs) -> bool:
    """Whether the input pipelines draw random numbers, or call Python: then no two epochs need be the same."""
    inner = graphs.functions.index.isin(graphs.calls["function"])
    pipelines = graphs.functions.index[~graphs.functions["called"].astype(bool) & ~inner]
    ops = graphs.nodes.loc[graphs.nodes["function"].isin(pipelines), "op"]
    drawn = ops.astype(str).str.contains("Random|PyFunc") & (ops != "RandomShuffle")  # which shuffles Keras' arrays
    return bool(drawn.any())
