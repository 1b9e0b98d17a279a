"""What each layer costs: its ops of the forward and the backward pass, and its share of the optimizer.

A layer is one of Keras' or, elsewhere, a trainable variable with the ops that use it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64, Objects
from tfprof_nb.analysis.source.gradients import forward_nodes
from tfprof_nb.analysis.source.placed_ops import creating_frames
from tfprof_nb.analysis.step_ops.step_ops import TRAINING_CALLS, StepOps
from tfprof_nb.decode.sections.graphs import Graphs

COLUMNS = [
    *("layer", "kind", "parameters", "alone_share", "covered_share", "op_ms"),
    *("forward_ms", "backward_ms", "optimizer_ms", "frame", "behind"),
]
_PARTS = ("forward", "backward", "optimizer")
# Ops that end a layer: the bias and the activation. Their event is often that of the whole layer, fused.
_FOLLOWING = ("BiasAdd", "Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid", "Softmax", "Add", "AddV2", "Erf")
_FOLLOWING_OPS = 2
# Something without a class that has more variables than this is a model of the user's, not a layer.
_MAX_VARIABLES_WITHOUT_CLASS = 2
_SINGLE_OR_SEVERAL = r"\[\]|;"


def layers(ops: StepOps) -> pd.DataFrame:
    """Return the layers that ran in the typical steps, the most expensive first.

    Returns
    -------
    DataFrame
        ``layer kind`` (the class; empty for a variable), ``parameters``, ``alone_share covered_share`` of the steps'
        time, ``op_ms forward_ms backward_ms optimizer_ms`` per step, ``frame`` (of `Graphs.frames`, -1 for none: the
        line that makes the layer, or else that uses it), and ``behind``, the layer whose output it takes.
    """
    graphs = ops.graphs
    if graphs.nodes.empty:
        return pd.DataFrame(columns=COLUMNS)
    owner, part = owners(graphs)
    per_node = ops.per_node["op_ms"].reindex(graphs.nodes.index, fill_value=0.0).to_numpy()
    costs = np.zeros((int(owner.max(initial=-1)) + 1, len(_PARTS)))
    np.add.at(costs, (owner[owner >= 0], part[owner >= 0]), per_node[owner >= 0])
    ran = np.flatnonzero(costs.sum(axis=1) > 0)
    rows = [_row(ops, owner, int(number), costs[number]) for number in ran]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.sort_values("op_ms", ascending=False, ignore_index=True)


def _row(ops: StepOps, owner: Int64, number: int, costs: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[object]:
    graphs, own = ops.graphs, owner == number
    share, nodes = ops.share(ops.ran(own)), graphs.nodes
    used = np.unique(nodes["variable"][own & (nodes["variable"] >= 0)].to_numpy(np.int64))
    variables = graphs.variables.iloc[used]
    parameters = int(variables.loc[_is_models(variables), "parameters"].fillna(0).sum())
    forward = own & (nodes["phase"].isin(["forward", ""])).to_numpy(bool)
    named = graphs.layers.iloc[number] if number < len(graphs.layers) else None
    name = str(graphs.variables["name"].iloc[number - len(graphs.layers)] if named is None else named["name"])
    kind = "" if named is None else str(named["type"])
    made = -1 if named is None else int(named["frame"])
    frame = made if made >= 0 else _first_frame(graphs, forward)
    whole = float(costs.sum())
    return [name, kind, parameters, share.alone, share.covered, whole, *costs, frame, _behind(graphs, owner, forward)]


def _models(graphs: Graphs, layer: Int64, variable: Int64) -> Int64:
    """Return the layers without a known class that have many variables: models of the user's, not layers."""
    own = np.append(_is_models(graphs.variables), False)[variable] & (layer >= 0)
    pairs = pd.DataFrame({"layer": layer[own], "variable": variable[own]}).drop_duplicates()
    counts = pairs["layer"].value_counts()
    many = counts.index[counts > _MAX_VARIABLES_WITHOUT_CLASS].to_numpy(np.int64)
    models: Int64 = many[graphs.layers["type"].iloc[many].to_numpy(dtype=object) == ""]
    return models


def _is_models(variables: pd.DataFrame) -> Bools:
    return variables["model"].where(variables["model"].notna(), variables["trainable"]).to_numpy(bool)


def _first_frame(graphs: Graphs, forward: Bools) -> int:
    """Return the line of the first op, unless it only trains the model."""
    frames = creating_frames(graphs)[forward]
    frames = frames[frames >= 0]
    frames = frames[~graphs.frames["text"].iloc[frames].astype(str).str.contains(TRAINING_CALLS).to_numpy(bool)]
    return int(frames[0]) if len(frames) else -1


def _behind(graphs: Graphs, owner: Int64, forward: Bools) -> str:
    """Return the name of the layer that computes the data which a layer takes."""
    own = np.flatnonzero(forward)
    sources = {source for inputs in graphs.nodes["inputs"].iloc[own] for source in inputs}
    before = sorted({int(owner[source]) for source in sources} - {int(owner[own[0]]) if len(own) else -1, -1})
    known = [number for number in before if number < len(graphs.layers)]
    return str(graphs.layers["name"].iloc[known[0]]) if len(known) == 1 else ""


def owners(graphs: Graphs) -> tuple[Int64, Int64]:
    """Return for each node its layer (a variable after the last layer, -1 for none) and its part of `_PARTS`."""
    nodes = graphs.nodes
    layer, variable = nodes["layer"].to_numpy(np.int64).copy(), nodes["variable"].to_numpy(np.int64)
    phase, op = nodes["phase"].to_numpy(dtype=object), nodes["op"].to_numpy(dtype=object)
    forward = forward_nodes(graphs)
    part = np.where((forward >= 0) | (phase == "backward"), 1, 0)
    part[(phase == "optimizer") | _updates(op)] = 2
    layer[np.isin(layer, _models(graphs, layer, variable))] = -1
    of_variable = _owner_of_variables(graphs, layer, phase)
    own_variable = np.append(of_variable, -1)[variable]
    alone = (layer < 0) & (part == 0) & np.isin(phase, ("", "forward"))
    layer[alone] = own_variable[alone]
    source, target = _edges(graphs)
    takes_read = alone[target] & (layer[target] < 0) & (variable[source] >= 0) & (op[source] == "ReadVariableOp")
    layer[target[takes_read]] = own_variable[source[takes_read]]
    follows = np.isin(op, _FOLLOWING) & (part == 0)
    for _ in range(_FOLLOWING_OPS):
        goes_on = follows[target] & (layer[target] < 0) & (layer[source] >= 0)
        layer[target[goes_on]] = layer[source[goes_on]]
    inherits = (layer < 0) & (forward >= 0)
    layer[inherits] = layer[forward[inherits]]
    optimizer = part == 2
    layer[optimizer] = _owners_of_updates(graphs, optimizer, source, target, own_variable, layer)[optimizer]
    return layer, part


def _updates(op: Objects) -> Bools:
    updating = ("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter")
    return np.array([name.startswith(updating) for name in op], dtype=bool)


def _edges(graphs: Graphs) -> tuple[Int64, Int64]:
    inputs = graphs.nodes["inputs"]
    counts = inputs.map(len).to_numpy(np.int64)
    return np.array([k for row in inputs for k in row], dtype=np.int64), np.repeat(np.arange(len(inputs)), counts)


def _owner_of_variables(graphs: Graphs, layer: Int64, phase: Objects) -> Int64:
    """Return the layer that reads each variable of the model; a variable of no layer owns itself."""
    variables = graphs.variables
    owner = np.full(len(variables), -1, dtype=np.int64)
    own = _is_models(variables) if len(variables) else np.zeros(0, dtype=bool)
    owner[own] = len(graphs.layers) + np.flatnonzero(own)
    variable = graphs.nodes["variable"].to_numpy(np.int64)
    reads = (variable >= 0) & (layer >= 0) & np.isin(phase, ("forward", ""))
    reads &= np.append(own, False)[variable]
    owner[variable[reads]] = layer[reads]
    known = variables["layer"].to_numpy(np.int64)
    return np.where(own & (known >= 0), known, owner)


def _owners_of_updates(
    graphs: Graphs, optimizer: Bools, source: Int64, target: Int64, own_variable: Int64, layer: Int64
) -> Int64:
    """Return for each node of the optimizer the layer whose variable it updates.

    Nodes that exchange more than single numbers, or use the same state, update the same variable.
    """
    nodes, sizes = graphs.nodes, graphs.variables["parameters"].fillna(0).to_numpy(dtype=float)
    # The learning rate and the norm that clips gradients are single numbers; an IdentityN holds the gradients of all.
    connects = ~nodes["outputs"].str.contains(_SINGLE_OR_SEVERAL).to_numpy(bool)
    inner = optimizer[source] & optimizer[target] & connects[source]
    variable = np.append(np.where(sizes > 1, np.arange(len(sizes)), -1), -1)[nodes["variable"].to_numpy(np.int64)]
    first = pd.Series(np.arange(len(nodes)))[optimizer & (variable >= 0)]
    same = first.groupby(variable[first]).transform("first")
    edges = (np.concatenate([source[inner], same]), np.concatenate([target[inner], first]))
    component = _components(len(nodes), *edges)
    found = pd.Series(own_variable[optimizer]).where(own_variable[optimizer] >= 0)
    of_component = found.groupby(component[optimizer]).max()
    # Where no variable tells the layer, the gradient does.
    taken = optimizer[target] & ~optimizer[source] & (layer[source] >= 0)
    of_gradients = pd.Series(layer[source[taken]]).groupby(component[target[taken]]).max()
    owners = of_component.combine_first(of_gradients).reindex(component).fillna(-1)
    return owners.to_numpy().astype(np.int64)


def _components(count: int, source: Int64, target: Int64) -> Int64:
    """Return for each node the smallest node that edges connect it to."""
    component = np.arange(count)
    while True:
        before = component.copy()
        smaller = np.minimum(component[source], component[target])
        np.minimum.at(component, source, smaller)
        np.minimum.at(component, target, smaller)
        component = component[component]
        if (before == component).all():
            return component
