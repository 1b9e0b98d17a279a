"""What ran on other threads and on devices while the main thread waited for it, by the parts of the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb.analysis.breakdown.sharing import Claims
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.graph_nodes import graph_nodes
from tfprof_nb.analysis.events.links import CAPTURED, EXECUTOR, tf_data_steps
from tfprof_nb.analysis.events.names import Category
from tfprof_nb.analysis.events.nesting import nest
from tfprof_nb.analysis.events.op_labels import label_all_ops, on_device_timeline
from tfprof_nb.analysis.source.owners import PARTS, owners
from tfprof_nb.decode.sections.graphs import Graphs

# The runtime's events of the wait for a batch, which belong to no op.
_COMPUTES = ("IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute")
_SMALL = ("op", "small ops", "", "")
_FETCHES = ("IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional", "OptionalGetValue")


@dataclass(frozen=True, eq=False)
class Work:
    """The ops that ran, each as a claim on the time in which somebody waits for it.

    Attributes
    ----------
    claims
        The ops' own time on their threads; the keys are rows of ``parts``.
    parts
        What they belong to: ``kind name part op place``; a layer has a part of ``forward backward``.
    behind
        The part that has the time in which executors ran and no op was recorded: TensorFlow records no cheap ones.
    """

    claims: Claims
    parts: pd.DataFrame
    behind: int = -1

    @property
    def waits(self) -> Bools:
        """Per part: whether it is the wait for a batch."""
        return (self.parts["kind"] == "wait").to_numpy(bool)


def work(forest: Forest, graphs: Graphs, *, devices: bool) -> Work:
    """Return what functions ran, on the host's threads or on its devices."""
    host, labels = forest.host, forest.once(label_all_ops)
    on_timeline = on_device_timeline(forest)
    chosen = (labels.code >= 0) & (on_timeline if devices else forest.on_host)
    chosen &= ~forest.with_names(forest.names.category == Category.TF_DATA)
    if not devices:
        chosen |= forest.named(*_COMPUTES) & forest.on_host
    events = np.flatnonzero(chosen & (host.duration_ps > 0))
    if not devices:
        events = events[~_of_pipelines(forest, events)]
    start, end, event = _own_time(forest, events)
    node = forest.once(graph_nodes, graphs)[event]
    keys, parts = _parts(forest, graphs, node, labels.code[event])
    if devices:
        return Work(Claims(start, end, keys), parts)
    running = np.flatnonzero(forest.named(EXECUTOR) & forest.on_host)
    running = running[~np.isin(host.ints("id").at(running), tf_data_steps(forest))]
    parts.loc[len(parts)] = _SMALL
    claims = Claims(
        np.concatenate([start, host.start_ps[running]]),
        np.concatenate([end, forest.ends_ps(running)]),
        np.concatenate([keys, np.full(len(running), len(parts) - 1)]),
    )
    return Work(claims, parts, behind=len(parts) - 1)


def _of_pipelines(forest: Forest, events: Int64) -> Bools:
    """Return per event whether it belongs to a pipeline of tf.data."""
    executors, captured = forest.named(EXECUTOR), forest.name_starts(CAPTURED, "Iterator::")
    around = np.flatnonzero(executors | captured)
    ids = forest.host.ints("id").at(around)
    theirs = captured[around] | np.isin(ids, tf_data_steps(forest))
    return np.append(theirs, False)[forest.nearest_ancestor(events, around)]


def _own_time(forest: Forest, events: Int64) -> tuple[Int64, Int64, Int64]:
    """Return the stretches in which an event is the innermost of the chosen ones: start, end and the event.

    An op that encloses others keeps the time before the first and after the last of these.
    """
    host = forest.host
    start, end = host.start_ps[events], forest.ends_ps(events)
    parent = nest(host.line[events], start, host.duration_ps[events]).parent.astype(np.int64)
    inner = np.flatnonzero(parent >= 0)
    if not len(inner):
        return start, end, events
    first, last = end.copy(), start.copy()
    np.minimum.at(first, parent[inner], start[inner])
    np.maximum.at(last, parent[inner], end[inner])
    encloses = np.zeros(len(events), dtype=bool)
    encloses[parent[inner]] = True
    outer = np.flatnonzero(encloses)
    return (
        np.concatenate([start, last[outer]]),
        np.concatenate([np.where(encloses, first, end), end[outer]]),
        np.concatenate([events, events[outer]]),
    )


def _parts(forest: Forest, graphs: Graphs, node: Int64, code: Int64) -> tuple[Int64, pd.DataFrame]:
    """Return the part of the model that each op belongs to, and the table of parts."""
    labels = forest.once(label_all_ops)
    codes, names = pd.factorize(labels.op_type)
    types, type_names = np.append(codes.astype(np.int64), len(names)), [*names, _FETCHES[0]]  # the last: no op's
    layer = part = np.full(len(node), -1, dtype=np.int64)
    phase = np.full(len(node), "", dtype=object)
    if len(graphs.nodes):
        owner, its_part = graphs.once(owners)
        layer, part = np.append(owner, -1)[node], np.append(its_part, 0)[node]
        phase = np.append(graphs.nodes["phase"].to_numpy(dtype=object), "")[node]
    phases, phase_names = pd.factorize(phase)
    pairs = np.stack([layer, part, phases, types[code]], axis=1)
    if not len(pairs):
        return np.zeros(0, dtype=np.int64), pd.DataFrame(columns=["kind", "name", "part", "op"])
    # One number for each: the columns are small.
    sizes = [int(column.max()) + 2 for column in pairs.T]
    number = np.zeros(len(pairs), dtype=np.int64)
    for column, size in zip(pairs.T, sizes, strict=True):
        number = number * size + column + 1
    key, distinct = pd.factorize(number)
    first = np.zeros(len(distinct), dtype=np.int64)
    first[key[::-1]] = np.arange(len(key))[::-1]
    rows = [
        _part(
            graphs,
            int(pairs[one, 0]),
            int(pairs[one, 1]),
            str(phase_names[pairs[one, 2]]),
            str(type_names[pairs[one, 3]]),
        )
        for one in first.tolist()
    ]
    table = pd.DataFrame(rows, columns=["kind", "name", "part", "op"])
    merged, parts = pd.factorize(pd.MultiIndex.from_frame(table))
    return merged[key].astype(np.int64), parts.to_frame(index=False, name=["kind", "name", "part", "op"])


def _part(graphs: Graphs, layer: int, part: int, phase: str, op: str) -> tuple[str, str, str, str]:
    """Return kind, name, part and op of what an op belongs to."""
    if op in _FETCHES:
        return "wait", "", "", ""
    if part == PARTS.index("optimizer") or phase == "optimizer":
        return "optimizer", "optimizer", "", ""
    if layer >= 0:
        known = layer < len(graphs.layers)
        name = graphs.layers["name"].iloc[layer] if known else graphs.variables["name"].iloc[layer - len(graphs.layers)]
        return "layer", str(name), PARTS[part], ""
    if phase in ("loss", "metrics"):
        return "op", phase, "", ""
    return "op", "", "backward" if part == 1 else "", op
