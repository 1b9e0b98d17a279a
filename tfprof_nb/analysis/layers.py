"""The layers of the model as a graph: what each costs in a typical step, what it gives, and what it takes."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import not_for
from tfprof_nb.analysis.events.tensors import bytes_of
from tfprof_nb.analysis.result import Result, empty_table
from tfprof_nb.analysis.source.owners import owners
from tfprof_nb.analysis.step_ops.layers import layers as costs
from tfprof_nb.analysis.step_ops.step_ops import StepOps
from tfprof_nb.decode.sections.graphs import Graphs

_TYPES = {
    **dict.fromkeys(("layer", "kind"), object),
    "parameters": np.int64,
    **dict.fromkeys(("op_ms", "op_share", "forward_ms", "backward_ms", "optimizer_ms"), np.float64),
    "output": object,
    "output_bytes": np.int64,
    "inputs": object,
    "place": object,
}
_NO_GRAPHS = (
    "No layer is known: this needs the graphs of the functions that ran, which %%tfprofile and tfprof_nb.profile() "
    "record."
)
_NO_STEPS = "No layer is known: this page is about the typical step, and there are no steps."
_NONE = (
    "No layer is known: the graphs of the functions that ran name none. A function that was traced before the capture "
    "is known only if Keras holds it."
)
_MOST_BOXES, _CHEAP_SHARE, _MOST_KNOWN = 30, 0.02, 0.9
_NO_LAYERS_OUTPUT = ("Const", "ReadVariableOp", "Shape")


@dataclass(eq=False, kw_only=True)
class Layers(Result):
    """The layers that ran in the typical steps, in the order in which data flows through them.

    Attributes
    ----------
    boxes
        What a drawing shows, one row per layer, or where there are many, per chain of cheap layers: ``name kind
        parameters op_ms op_share output output_bytes inputs``.
    on_device
        Whether the times are those of devices.
    """

    boxes: pd.DataFrame
    on_device: bool = False


def layers(ops: StepOps, forests: Sequence[Forest], graphs: Sequence[Graphs]) -> Layers:
    """Put together what each layer costs and how layers are connected.

    Returns
    -------
    Layers
        Its table has ``layer kind parameters op_ms op_share forward_ms backward_ms optimizer_ms output output_bytes
        inputs place``, a row per layer. Times are those of the layer's ops in a typical step, summed over threads, with
        its gradient and its share of the optimizer; ``op_share`` is the part of all ops' time. ``output`` is the type
        and shape of what the layer gives, ``output_bytes`` its size (0 if a dimension is open), ``inputs`` the rows
        whose outputs it takes. Its summary has ``layers`` and ``op_ms``, the time of all ops.
    """
    table = costs(ops)
    if table.empty:
        none = empty_table(_TYPES)
        return Layers(
            none,
            {"layers": 0, "op_ms": 0.0},
            [_why(ops, forests, graphs)],
            boxes=none.rename(columns={"layer": "name"}),
        )
    owner, part = ops.graphs.once(owners)
    forward = _forward(ops, owner, part)
    numbers = _numbers(ops, table["layer"])
    flows = _flows(ops, owner, forward, set(numbers))
    order = _in_order(numbers, flows)
    place_of_number = {numbers[row]: k for k, row in enumerate(order)}
    whole = float(ops.per_node["op_ms"].sum())
    outputs = _outputs(ops, owner, forward)
    table = table.iloc[order].reset_index(drop=True)
    output = [outputs.get(numbers[row], "") for row in order]
    inputs = [tuple(sorted(place_of_number[k] for k in flows.get(numbers[row], ()))) for row in order]
    table = table.assign(
        op_share=table["op_ms"] / max(whole, 1e-12),
        output=pd.Series(output, dtype=object),
        output_bytes=[bytes_of(text) for text in output],
        inputs=pd.Series(inputs, dtype=object),
        place=pd.Series([ops.place(int(frame)) for frame in table["frame"]], dtype=object),
    )
    table = table[list(_TYPES)].astype(_TYPES)
    boxes = _boxes(table)
    folded = [f"Chains of cheap layers are drawn as one box: {len(boxes)} boxes for {len(table)} layers."]
    notes = folded if len(boxes) < len(table) else []
    known = float(table["op_share"].sum())
    if known < _MOST_KNOWN:
        notes.append(f"{known:.0%} of the time of all ops is in layers; of the other ops no layer is known.")
    return Layers(table, {"layers": len(table), "op_ms": whole}, notes, boxes=boxes, on_device=ops.on_device)


def _why(ops: StepOps, forests: Sequence[Forest], graphs: Sequence[Graphs]) -> str:
    """Say why no layer is known."""
    if elsewhere := not_for(forests, "layers of Keras models"):
        return elsewhere
    if not any(len(own.nodes) for own in graphs):
        return _NO_GRAPHS
    return _NONE if ops.steps else _NO_STEPS


def _forward(ops: StepOps, owner: Int64, part: Int64) -> Int64:
    """Return the nodes of the forward pass, in the functions that ran in the steps."""
    nodes = ops.graphs.nodes
    phase = nodes["phase"].isin(["forward", ""]).to_numpy(bool)
    there = np.isin(nodes["function"].to_numpy(np.int64), list(ops.functions)) | (not ops.functions)
    return np.flatnonzero(phase & there & ((part == 0) | (owner < 0)))


def _numbers(ops: StepOps, names: pd.Series[str]) -> list[int]:
    """Return the number by which `owners` calls each layer; several layers of one name are taken in order."""
    by_name: defaultdict[str, list[int]] = defaultdict(list)
    every = [*ops.graphs.layers["name"].astype(str), *ops.graphs.variables["name"].astype(str)]
    for number, name in enumerate(every):
        by_name[name].append(number)
    return [by_name[name].pop(0) for name in names]


def _flows(ops: StepOps, owner: Int64, forward: Int64, known: set[int]) -> dict[int, set[int]]:
    """Return for each layer the layers whose outputs it takes, also through ops that belong to none."""
    inputs, inside = ops.graphs.nodes["inputs"], set(forward.tolist())
    behind: dict[int, set[int]] = {}
    found: defaultdict[int, set[int]] = defaultdict(set)
    for node in _sorted(forward, inputs):
        own = int(owner[node])
        sources = set[int]()
        for source in inputs.iloc[node]:
            if source in inside:
                other = int(owner[source])
                sources |= {other} if other in known else behind.get(source, set())
        behind[node] = sources
        if own in known:
            found[own] |= sources - {own}
    return dict(found)


def _sorted(forward: Int64, inputs: pd.Series[Any]) -> list[int]:
    """Return nodes after those whose outputs they take; a loop is entered where the graph lists it first."""
    inside, done, order = set(forward.tolist()), set[int](), list[int]()
    for first in forward.tolist():
        waiting = [(first, False)]
        while waiting:
            node, ready = waiting.pop()
            if ready:
                order.append(node)
            elif node not in done:
                done.add(node)
                waiting.append((node, True))
                waiting += [(k, False) for k in inputs.iloc[node] if k in inside and k not in done]
    return order


def _outputs(ops: StepOps, owner: Int64, forward: Int64) -> dict[int, str]:
    """Return the type and shape of what each layer gives.

    That is the output of the last of its nodes that another owner takes, or of its last one.
    """
    nodes, inside = ops.graphs.nodes, set(forward.tolist())
    op = nodes["op"].to_numpy(dtype=object)
    last: dict[int, int] = {}
    given: dict[int, int] = {}
    for node in forward.tolist():
        if op[node] not in _NO_LAYERS_OUTPUT and nodes["outputs"].iloc[node]:
            last[int(owner[node])] = node
    takers = nodes["inputs"].iloc[np.flatnonzero(nodes["phase"].isin(["forward", "", "loss"]).to_numpy(bool))]
    for taker, sources in zip(takers.index.to_numpy(np.int64), takers, strict=True):
        for source in sources:
            if source in inside and owner[source] != owner[taker] and op[source] not in _NO_LAYERS_OUTPUT:
                given[int(owner[source])] = source
    texts = {number: str(nodes["outputs"].iloc[node]).split(";") for number, node in (last | given).items()}
    return {number: max(outputs, key=bytes_of) for number, outputs in texts.items()}  # a loop's first is its counter


def _in_order(numbers: Sequence[int], flows: Mapping[int, set[int]]) -> list[int]:
    """Return rows such that each comes after those that it takes data from; a circle is entered at its first."""
    row = {number: k for k, number in enumerate(numbers)}
    missing = {number: len(flows.get(number, set())) for number in numbers}
    takers: defaultdict[int, list[int]] = defaultdict(list)
    for number, sources in flows.items():
        for source in sources:
            takers[source].append(number)
    ready = [number for number, count in missing.items() if not count]
    heapq.heapify(ready)
    others = deque(sorted(numbers))
    order: dict[int, None] = {}
    while ready or others:
        number = heapq.heappop(ready) if ready else others.popleft()
        if number in order:
            continue
        order[number] = None
        for taker in takers[number]:
            missing[taker] -= 1
            if missing[taker] == 0:
                heapq.heappush(ready, taker)
    return [row[number] for number in order]


def _boxes(table: pd.DataFrame) -> pd.DataFrame:
    """Return what is drawn: the layers, or where these are many, chains of cheap ones as one."""
    inputs = table["inputs"].tolist()
    takers = Counter(source for sources in inputs for source in sources)
    cheap = (table["op_share"] < _CHEAP_SHARE).tolist()
    many = len(table) > _MOST_BOXES
    group: list[int] = []
    for row, sources in enumerate(inputs):
        before = sources[0] if len(sources) == 1 else -1
        joins = many and 0 <= before < row and cheap[row] and cheap[before] and takers[before] == 1
        group.append(group[before] if joins else max(group, default=-1) + 1)
    by_box = table.groupby(np.array(group))
    boxes = by_box.agg(
        name=("layer", "first"),
        kind=("kind", "first"),
        parameters=("parameters", "sum"),
        op_ms=("op_ms", "sum"),
        op_share=("op_share", "sum"),
        output=("output", "last"),
        output_bytes=("output_bytes", "last"),
    )
    count = by_box.size()
    last = by_box["layer"].last()
    several = count > 1
    boxes["kind"] = boxes["kind"].where(~several, count.astype(str) + " layers")
    boxes["name"] = boxes["name"].where(~several, boxes["name"] + " … " + last)
    taken: list[set[int]] = [set() for _ in range(len(boxes))]
    for row, sources in enumerate(inputs):
        taken[group[row]] |= {group[source] for source in sources} - {group[row]}
    return boxes.assign(inputs=pd.Series([tuple(sorted(one)) for one in taken], boxes.index, dtype=object))
