"""Lines of the user's that make many small ops per step: their time, with that of starting them."""

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb.analysis.source.layer_frames import TRAINING_CALLS
from tfprof_nb.analysis.source.owners import owners
from tfprof_nb.analysis.source.placed_ops import creating_frames, creating_nodes
from tfprof_nb.analysis.step_ops.step_ops import LOOP_ROLES, StepOps, with_called

COLUMNS = ["function", "frame", "count", "median_us", "cost_share", "in_loop", "layers", "kind"]
# TensorFlow stops to record an op that takes less than 8000 cycles (`kOpIsExpensiveThresholdCycles`).
_UNRECORDED_US = 3.0
_SMALL_US = 30.0
_NOT_RUN = ("Const", "Placeholder", "NoOp", "Identity", "VarHandleOp", "PartitionedCall", "StatefulPartitionedCall")
_LIBRARY_PHASES = ("metrics", "loss")
_STEP_METHODS = ("train_step", "test_step", "compute_loss", "compute_metrics")
# Keras loops over time by itself in these: no line of the user's makes the ops.
RECURRENT = ("RNN", "LSTM", "GRU", "LSTMCell", "GRUCell", "SimpleRNN", "SimpleRNNCell", "ConvLSTM2D", "Bidirectional")
_MANY_LAYERS, _NEARLY = 10, 0.8
# A line that treats one slice after another makes ops of one type at least so many times per step.
_REPEATS = 30
# TensorFlow's own ops of the backward pass and of the optimizer belong to these lines.
_GRADIENTS = r"\.(?:gradient|apply_gradients|minimize|jacobian)\("


def small_ops(ops: StepOps) -> pd.DataFrame:
    """Sum ops by the user's function that makes them, or by the class of many layers.

    TensorFlow does not record ops that it knows to be short: their number follows from the graph and, in loops, from
    how often the executor was entered.

    Returns
    -------
    DataFrame
        ``function`` (empty for layers), ``frame`` (of `Graphs.frames`: the line with most ops, or the line that makes
        the layers), ``count`` per step, ``median_us`` of an op, ``cost_share`` of the step with the time between the
        ops, ``in_loop`` (whether a loop of the graph repeats them), and for layers their class ``kind`` and their
        number ``layers``; the most expensive first.
    """
    if not ops.steps:
        return pd.DataFrame(columns=COLUMNS)
    nodes, step_ms = ops.once(with_costs), ops.steps_ms / ops.steps
    repeats = nodes.groupby(["frame", "op"])["count"].transform("sum")
    chosen = nodes[(nodes["group"] != "") & (repeats >= _REPEATS) & (nodes["us"] <= _SMALL_US)]
    rows = [
        _row(ops, str(group), own, step_ms)
        for group, own in chosen.groupby("group", sort=False)
        if "\n" in str(group) or _independent(ops, str(group))
    ]
    return pd.DataFrame(rows, columns=COLUMNS).sort_values("cost_share", ascending=False, ignore_index=True)


def cost_of(ops: StepOps, chosen: Bools) -> tuple[float, float]:
    """Return which part of the steps' time nodes take, with the time to start them, and how many run per step."""
    nodes = ops.once(with_costs)
    own = nodes[chosen[nodes.index]]
    return min(float(own["cost_ms"].sum()) * ops.steps / max(ops.steps_ms, 1e-9), 1.0), float(own["count"].sum())


def with_costs(ops: StepOps) -> pd.DataFrame:
    """Return the nodes that ran, with ``cost_ms``: the time of each with its part of the time between ops."""
    nodes, step_ms = _nodes(ops), ops.steps_ms / ops.steps
    between_ms = max(ops.computing_ms / ops.steps - ops.share(np.ones(len(ops.ops), dtype=bool)).covered * step_ms, 0.0)
    return nodes.assign(cost_ms=nodes["op_ms"] + between_ms * nodes["count"] / max(nodes["count"].sum(), 1))


def _nodes(ops: StepOps) -> pd.DataFrame:
    """Return the nodes that ran, with their number and time per step: ``frame op group in_loop count op_ms us``."""
    graphs = ops.graphs
    frame = graphs.once(creating_frames)
    nodes = pd.DataFrame({"frame": frame, "op": graphs.nodes["op"], "group": _groups(ops, frame)})
    nodes["in_loop"] = ops.once(in_loops)
    of_libraries = (graphs.nodes["layer"] >= 0) | graphs.nodes["by_keras"].astype(bool)
    nodes["group"], nodes["frame"] = _with_gradients(nodes, of_libraries.to_numpy(bool))
    nodes = nodes.join(ops.per_node).fillna({"count": 0.0, "op_ms": 0.0})
    known = nodes["count"] > 0
    nodes["us"] = np.where(known, 1e3 * nodes["op_ms"] / nodes["count"].where(known, 1), _UNRECORDED_US)
    missing = ~known & ops.graphs.nodes["function"].isin(ops.functions) & ~nodes["op"].isin(_NOT_RUN)
    nodes.loc[missing & ~nodes["in_loop"], "count"] = 1.0
    loops_missing = missing & nodes["in_loop"]
    entered = max(ops.executor_entries - nodes["count"].sum(), 0.0)
    nodes.loc[loops_missing, "count"] = entered / max(loops_missing.sum(), 1)
    return nodes[nodes["count"] > 0].copy()


def _with_gradients(nodes: pd.DataFrame, of_libraries: Bools) -> tuple[pd.Series, pd.Series]:
    """Return groups and frames, where the loops of the backward pass belong to the only function that loops forward.

    Nodes in their bodies do not tell of which node they are the gradient. ``of_libraries`` flags those of layers that
    loop by themselves, whose gradients these may be.
    """
    group, frame = nodes["group"], nodes["frame"]
    runs = nodes["in_loop"] & ~nodes["op"].isin(_NOT_RUN)
    known = nodes[runs & (group != "")]
    files = {str(group).partition("\n")[0] for group in known["group"].unique()}
    if len(files) != 1 or (runs & of_libraries).any():
        return group, frame
    most = known["group"].value_counts().index[0]
    at = int(known.loc[known["group"] == most, "frame"].value_counts().index[0])
    unknown = runs & (group == "")
    return group.mask(unknown, most), frame.mask(unknown, at)


def _independent(ops: StepOps, kind: str) -> bool:
    """Whether no layer of a class takes what another layer of that class computes."""
    graphs = ops.graphs
    layer, forward = graphs.nodes["layer"].to_numpy(np.int64), graphs.nodes["phase"].ne("backward").to_numpy(bool)
    of_kind = np.append(graphs.layers["type"].eq(kind).to_numpy(bool), False)[layer] & (layer >= 0) & forward
    inputs = graphs.nodes["inputs"].tolist()
    seen = set[int]()
    waiting = [source for node in np.flatnonzero(of_kind) for source in inputs[node] if layer[source] != layer[node]]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            if of_kind[node]:
                return False
            seen.add(node)
            waiting += inputs[node]
    return True


def _row(ops: StepOps, group: str, own: pd.DataFrame, step_ms: float) -> list[object]:
    layers, of_function = ops.graphs.layers, "\n" in group
    of_layers = layers.loc[layers["type"] == group, "frame"].value_counts()
    counts = own.groupby("frame")["count"].sum() if of_function else of_layers
    frame = int(counts.index[counts >= _NEARLY * counts.max()].min())  # of like lines always the same
    by_time = own.sort_values("us")
    median_us = by_time["us"].iloc[int(np.searchsorted(by_time["count"].cumsum(), own["count"].sum() / 2))]
    in_loop = bool(own.loc[own["in_loop"], "count"].sum() > own["count"].sum() / 2)
    kind, count = ("", 0) if of_function else (group, int((layers["type"] == group).sum()))
    cost_share = min(float(own["cost_ms"].sum()) / step_ms, 1.0)
    function = group.partition("\n")[2]
    return [function, frame, float(own["count"].sum()), float(median_us), cost_share, in_loop, count, kind]


def in_loops(ops: StepOps) -> Bools:
    """Return per node whether its function is the body of a loop, or one that only such bodies call."""
    calls = ops.graphs.calls
    bodies = calls.loc[calls["role"].isin(LOOP_ROLES), "function"]
    return with_called(ops.graphs, ops.graphs.nodes["function"].isin(bodies).to_numpy(bool))


def _groups(ops: StepOps, frame: Int64) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """Return for each node its group: file and function, or the class of many layers; empty for none."""
    graphs = ops.graphs
    nodes, frames = graphs.nodes.iloc[graphs.once(creating_nodes)], graphs.frames
    group = np.append((frames["file"] + "\n" + frames["function"]).to_numpy(dtype=object), "")[frame]
    outside = frames["text"].astype(str).str.contains(f"{TRAINING_CALLS}|{_GRADIENTS}").to_numpy(bool)
    group[np.append(outside, True)[frame] | nodes["by_keras"].to_numpy(bool)] = ""
    # Keras calls the user's own losses and metrics; the other ops of these phases are those of libraries.
    calls_library = np.append(frames["function"].isin(_STEP_METHODS).to_numpy(bool), False)[frame]
    phase = graphs.nodes["phase"]
    group[((phase == "optimizer") | (phase.isin(_LIBRARY_PHASES) & calls_library)).to_numpy(bool)] = ""
    owner, _ = graphs.once(owners)
    kind = np.append(graphs.layers["type"].to_numpy(dtype=object), "")[np.where(owner < len(graphs.layers), owner, -1)]
    group[np.isin(kind, RECURRENT)] = ""
    own = graphs.layers["type"].value_counts()
    many = np.isin(kind, own.index[(own >= _MANY_LAYERS) & (own.index != "")].to_numpy(dtype=object))
    group[many] = kind[many]
    return group
