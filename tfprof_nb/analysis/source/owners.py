"""Which layer each node of a graph belongs to, and whether to its forward pass, its gradient or its optimizer."""

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64, Objects
from tfprof_nb.analysis.source.gradients import forward_nodes
from tfprof_nb.decode.sections.graphs import Graphs

PARTS = ("forward", "backward", "optimizer")
OPTIMIZER = 2
# Ops that end a layer: the bias and the activation. Their event is often that of the whole layer, fused.
_FOLLOWING = ("BiasAdd", "Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid", "Softmax", "Add", "AddV2", "Erf")
_FOLLOWING_OPS = 2
READS = ("ReadVariableOp", "Identity")  # the latter of a variable in a session's graph
# Something without a class that has more variables than this is a model of the user's, not a layer.
_MAX_VARIABLES_WITHOUT_CLASS = 2
# How types of ops begin that change variables; the last two change those of a session's graph.
UPDATING = ("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter", "Apply", "SparseApply")
_SINGLE_OR_SEVERAL = r"\[\]|;"


def owners(graphs: Graphs) -> tuple[Int64, Int64]:
    """Return for each node its layer (a variable after the last layer, -1 for none) and its part of `PARTS`."""
    nodes = graphs.nodes
    layer, variable = nodes["layer"].to_numpy(np.int64).copy(), nodes["variable"].to_numpy(np.int64)
    phase, op = nodes["phase"].to_numpy(dtype=object), nodes["op"].to_numpy(dtype=object)
    forward = graphs.once(forward_nodes)
    part = np.where((forward >= 0) | (phase == "backward"), 1, 0)
    part[(phase == "optimizer") | _updates(op)] = 2
    layer[np.isin(layer, _models(graphs, layer, variable))] = -1
    of_variable = _owner_of_variables(graphs, layer, phase)
    own_variable = np.append(of_variable, -1)[variable]
    alone = (layer < 0) & (part == 0) & np.isin(phase, ("", "forward"))
    layer[alone] = own_variable[alone]
    source, target = _edges(graphs)
    takes_read = alone[target] & (variable[source] >= 0) & np.isin(op[source], READS)
    follows = np.isin(op, _FOLLOWING) & (part == 0)
    _pass_on(layer, own_variable, source, target, takes_read & ~follows[target])
    for _ in range(_FOLLOWING_OPS):
        _pass_on(layer, layer, source, target, follows[target] & (layer[source] >= 0) & (variable[source] < 0))
    _pass_on(layer, own_variable, source, target, takes_read)  # a bias of what no layer makes
    inherits = (layer < 0) & (forward >= 0)
    layer[inherits] = layer[forward[inherits]]
    optimizer = part == 2
    layer[optimizer] = _owners_of_updates(graphs, optimizer, source, target, own_variable, layer)[optimizer]
    return layer, part


def _pass_on(layer: Int64, given: Int64, source: Int64, target: Int64, edges: Bools) -> None:
    """Give nodes without a layer what is ``given`` at the other end of some edges."""
    edges = edges & (layer[target] < 0)
    layer[target[edges]] = given[source[edges]]


def _updates(op: Objects) -> Bools:
    return np.array([name.startswith(UPDATING) for name in op], dtype=bool)


def _edges(graphs: Graphs) -> tuple[Int64, Int64]:
    inputs = graphs.nodes["inputs"]
    counts = inputs.map(len).to_numpy(np.int64)
    return np.array([k for row in inputs for k in row], dtype=np.int64), np.repeat(np.arange(len(inputs)), counts)


def _owner_of_variables(graphs: Graphs, layer: Int64, phase: Objects) -> Int64:
    """Return the layer that reads each variable of the model; a variable of no layer owns itself."""
    variables = graphs.variables
    owner = np.full(len(variables), -1, dtype=np.int64)
    own = is_models(variables) if len(variables) else np.zeros(0, dtype=bool)
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


def _models(graphs: Graphs, layer: Int64, variable: Int64) -> Int64:
    """Return the layers without a known class that have many variables: models of the user's, not layers."""
    own = np.append(is_models(graphs.variables), False)[variable] & (layer >= 0)
    pairs = pd.DataFrame({"layer": layer[own], "variable": variable[own]}).drop_duplicates()
    counts = pairs["layer"].value_counts()
    many = counts.index[counts > _MAX_VARIABLES_WITHOUT_CLASS].to_numpy(np.int64)
    models: Int64 = many[graphs.layers["type"].iloc[many].to_numpy(dtype=object) == ""]
    return models


def is_models(variables: pd.DataFrame) -> Bools:
    """Return per variable whether it is a weight of the model, not one of the optimizer."""
    return variables["model"].where(variables["model"].notna(), variables["trainable"]).to_numpy(bool)
