"""What ran on other threads and on devices while the main thread waited for it, by the parts of the model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

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
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.source.layer_frames import layer_frames
from tfprof_nb.analysis.source.owners import PARTS, owners
from tfprof_nb.analysis.tf_data.iterators import iterator_type
from tfprof_nb.decode.sections.graphs import Graphs

_OF_PIPELINE = re.compile(r"__inference_Dataset_(map|filter|flat_map|interleave)_(.+)_[0-9]+")
_CALLS_OF_STAGES = {
    **dict.fromkeys(("Map", "ParallelMap", "MapAndBatch"), "map"),
    "Filter": "filter",
    "FlatMap": "flat_map",
    **dict.fromkeys(("Interleave", "ParallelInterleave"), "interleave"),
}
# The runtime's events of the wait for a batch, which belong to no op.
_COMPUTES = ("IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute")
_FETCHES = ("IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional", "OptionalGetValue")


class Part(NamedTuple):
    """What an op belongs to: a layer and its ``part``, forward or backward; else only its type or purpose is known.

    ``frame`` is the line of `Graphs.frames` that makes the layer or op, -1 if that is unknown.
    """

    kind: str
    name: str
    part: str = ""
    frame: int = -1


_SMALL = Part("op", "small ops")


@dataclass(frozen=True, eq=False)
class Work:
    """The ops that ran, each as a claim on the time in which somebody waits for it.

    Attributes
    ----------
    claims
        The ops' own time on their threads; the keys are places in ``parts``.
    parts
        What they belong to.
    behind
        Per claim: whether it gets only the time in which no op ran. These are the runs of executors: TensorFlow
        records no cheap ops, so that such time is that of small ops, beside the recorded ones of the same run.
    """

    claims: Claims
    parts: list[Part]
    behind: Bools

    @property
    def waits(self) -> Bools:
        """Per part: whether it is the wait for a batch."""
        return np.array([part.kind == "wait" for part in self.parts], dtype=bool)


def work(forest: Forest, graphs: Graphs, *, devices: bool) -> Work:
    """Return what functions ran, on the host's threads or on its devices."""
    host, labels = forest.host, forest.once(label_all_ops)
    chosen = (labels.code >= 0) & (on_device_timeline(forest) if devices else forest.on_host)
    chosen &= ~forest.with_names(forest.names.category == Category.TF_DATA)
    if not devices:
        chosen |= forest.named(*_COMPUTES) & forest.on_host
    events = np.flatnonzero(chosen & (host.duration_ps > 0))
    if not devices:
        events = events[~_of_pipelines(forest, events)]
    start, end, event = _own_time(forest, events)
    key, parts = _parts(forest, graphs, events)
    keys = key[np.searchsorted(events, event)]
    if devices:
        return Work(Claims(start, end, keys), parts, np.zeros(len(keys), dtype=bool))
    running = np.flatnonzero(forest.named(EXECUTOR) & forest.on_host)
    running = running[~np.isin(host.ints("id").at(running), tf_data_steps(forest))]
    beside, parts = _beside(forest, running, events, key, parts)
    claims = Claims(
        np.concatenate([start, host.start_ps[running]]),
        np.concatenate([end, forest.ends_ps(running)]),
        np.concatenate([keys, beside]),
    )
    return Work(claims, parts, np.append(np.zeros(len(keys), dtype=bool), np.ones(len(running), dtype=bool)))


def _beside(forest: Forest, running: Int64, events: Int64, key: Int64, parts: list[Part]) -> tuple[Int64, list[Part]]:
    """Return the part of the small ops of each run of an executor: that of the first op recorded in it, or before."""
    inside = forest.nearest_ancestor(events, running)
    first = np.full(len(running), len(events), dtype=np.int64)
    within = np.flatnonzero(inside >= 0)
    np.minimum.at(first, inside[within], within)
    known = np.append(key, len(parts))[first]
    small = [one._replace(part=_SMALL.name) if one.kind == "layer" else one for one in parts]
    small = [one if one.kind in ("layer", "optimizer") else _SMALL for one in small]
    every = list(dict.fromkeys([*parts, *small, _SMALL]))
    place_of_part = {one: place for place, one in enumerate(every)}
    places = np.array([place_of_part[one] for one in [*small, _SMALL]], dtype=np.int64)
    return _filled(forest, running, places[known], places[-1]), every


def _filled(forest: Forest, running: Int64, key: Int64, unknown: int) -> Int64:
    """Give runs of executors whose part is unknown that of the run before in the same execution of a function.

    Cheap ops run close to what they take data from. Before the first known run it is that of the next one.
    """
    order = np.lexsort((forest.host.start_ps[running], forest.host.ints("id").at(running)))
    execution = forest.host.ints("id").at(running)[order]
    known = pd.Series(np.where(key == unknown, np.nan, key)[order])
    of_execution = known.groupby(execution, sort=False)
    filled = of_execution.ffill().fillna(of_execution.bfill()).fillna(unknown)
    result = np.empty_like(key)
    result[order] = filled.to_numpy().astype(np.int64)
    return result


def stage_in_words(graphs: Graphs, stage: str, labels: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the kind of a stage of a pipeline, the Python function that it calls, and that function's line.

    The latter two are empty where it calls none, or where several stages of its kind call functions.
    """
    kind = iterator_type(stage)
    called = _CALLS_OF_STAGES.get(kind)
    names = graphs.functions["name"].astype(str)
    matches = {number: _OF_PIPELINE.fullmatch(name) for number, name in enumerate(names)}
    found = {number: match[2] for number, match in matches.items() if match and match[1] == called}
    if len(set(found.values())) != 1:
        return kind, "", ""
    traces = graphs.nodes.loc[graphs.nodes["function"] == min(found), "trace"]
    traces = traces[traces >= 0]
    frames = [frame for trace in traces.tolist()[:1] for frame in graphs.traces[trace]]
    if not frames:
        return kind, found[min(found)], ""
    return kind, found[min(found)], place_of_frame(graphs, frames[0], labels)


def place_of_frame(graphs: Graphs, frame: int, labels: Mapping[str, str]) -> str:
    """Return a line of `Graphs.frames` as people read it; empty for -1."""
    if frame < 0:
        return ""
    file, line = graphs.frames[["file", "line"]].iloc[frame]
    return place_of(labels.get(str(file), str(file)), int(line))


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


def _parts(forest: Forest, graphs: Graphs, events: Int64) -> tuple[Int64, list[Part]]:
    """Return the part of the model that each op belongs to, as a place among the parts."""
    labels = forest.once(label_all_ops)
    node, code = forest.once(graph_nodes, graphs)[events], labels.code[events].astype(np.int64)
    number, _ = pd.factorize(node * (len(labels.op_type) + 1) + code)  # few of them differ
    first = np.flatnonzero(~pd.Series(number).duplicated())
    op_type = np.append(labels.op_type, _FETCHES[0])  # the last: of the wait for a batch, which is no op's event
    none = np.full(1, -1, dtype=np.int64)
    layer, part = graphs.once(owners) if len(graphs.nodes) else (none[:0], none[:0])
    phase = np.append(graphs.nodes["phase"].to_numpy(dtype=object), "")
    layer, part = np.append(layer, -1), np.append(part, 0)
    first_frame = np.array([*(trace[0] if len(trace) else -1 for trace in graphs.traces), -1], dtype=np.int64)
    frame = np.append(first_frame[graphs.nodes["trace"].to_numpy(np.int64)], -1)
    made = graphs.once(layer_frames) if len(graphs.nodes) else none
    found = [
        _part(graphs, made, int(layer[one]), int(part[one]), str(phase[one]), str(op_type[its]), int(frame[one]))
        for one, its in zip(node[first].tolist(), code[first].tolist(), strict=True)
    ]
    parts = list(dict.fromkeys(found))
    place_of_part = {one: place for place, one in enumerate(parts)}
    places = np.array([place_of_part[one] for one in found], dtype=np.int64)
    return (places[number] if len(places) else number.astype(np.int64)), parts


def _part(graphs: Graphs, made: Int64, layer: int, part: int, phase: str, op: str, frame: int) -> Part:
    """Return what an op belongs to; ``frame`` is the line that makes it, ``made`` those of layers."""
    if op in _FETCHES:
        return Part("wait", "")
    if part == PARTS.index("optimizer") or phase == "optimizer":
        return Part("optimizer", "optimizer")
    if layer >= 0:
        known = layer < len(graphs.layers)
        name = graphs.layers["name"].iloc[layer] if known else graphs.variables["name"].iloc[layer - len(graphs.layers)]
        return Part("layer", str(name), PARTS[part], int(made[layer]))
    return Part("op", phase) if phase in ("loss", "metrics") else Part("op", op, frame=frame)
