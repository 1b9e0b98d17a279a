"""Lines of the user's that make many small ops per step: their time, with that of starting them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb._units import PS_PER_US
from tfprof_nb.analysis.source.placed_ops import creating_frames, creating_nodes
from tfprof_nb.analysis.step_ops.layers import owners
from tfprof_nb.analysis.step_ops.step_ops import TRAINING_CALLS, StepOps

COLUMNS = ["function", "frame", "count", "median_us", "op_ms", "cost_share", "iterations", "layers", "kind"]
_LOOP_ROLES = ("body", "cond")
_LIBRARY_PHASES = ("optimizer", "metrics", "loss")
# Keras loops over time by itself in these: no line of the user's makes the ops.
_RECURRENT = ("RNN", "LSTM", "GRU", "LSTMCell", "GRUCell", "SimpleRNN", "SimpleRNNCell", "ConvLSTM2D", "Bidirectional")
_MANY_LAYERS = 10
# A line that treats one slice after another makes ops of one type at least so many times per step.
_REPEATS = 30
# TensorFlow's own ops of the backward pass and of the optimizer belong to these lines.
_GRADIENTS = r"\.(?:gradient|apply_gradients|minimize|jacobian)\("


def small_ops(ops: StepOps) -> pd.DataFrame:
    """Sum ops by the user's function that makes them, or by the class of many layers.

    Returns
    -------
    DataFrame
        ``function`` (empty for layers), ``frame`` (of `Graphs.frames`: the line with most ops, or
        the line that makes the layers), ``count`` per step,
        ``median_us`` of an op, ``op_ms`` per step, ``cost_share`` of the step with the time between the ops,
        ``iterations`` of the loop that they are in per step (1 outside of a graph's loop), and for layers their class
        ``kind`` and their number ``layers``; the most expensive first.
    """
    events = ops.ops[ops.ops["node"] >= 0]
    if events.empty:
        return pd.DataFrame(columns=COLUMNS)
    node = events["node"].to_numpy(np.int64)
    frame = creating_frames(ops.graphs)
    groups = _groups(ops, frame)
    placed = pd.DataFrame({"node": node, "frame": frame[node], "group": groups[node]})
    repeats = (
        placed.assign(op=ops.graphs.nodes["op"].to_numpy()[node]).groupby(["frame", "op"])["node"].transform("size")
    )
    placed["us"] = ((events["end_ps"] - events["start_ps"]) / PS_PER_US).to_numpy()
    step_ms = ops.steps_ms / ops.steps
    between_ms = max(ops.computing_ms / ops.steps - ops.share(np.ones(len(ops.ops), dtype=bool)).covered * step_ms, 0.0)
    rows = []
    for group, own in placed[(placed["group"] != "") & (repeats >= _REPEATS * ops.steps)].groupby("group", sort=False):
        cost_ms = own["us"].sum() / 1e3 / ops.steps + between_ms * len(own) / len(ops.ops)
        rows.append([*_described(ops, str(group), own), min(cost_ms / step_ms, 1.0), *_repeated(ops, str(group), own)])
    return pd.DataFrame(rows, columns=COLUMNS).sort_values("cost_share", ascending=False, ignore_index=True)


def _described(ops: StepOps, group: str, own: pd.DataFrame) -> list[object]:
    function, layers = group.partition("\n")[2], ops.graphs.layers
    frames = own["frame"] if "\n" in group else layers.loc[layers["type"] == group, "frame"]
    frame = int(frames.value_counts().index[0])
    return [function, frame, len(own) / ops.steps, float(own["us"].median()), own["us"].sum() / 1e3 / ops.steps]


def _repeated(ops: StepOps, group: str, own: pd.DataFrame) -> list[object]:
    in_loop = own[_in_loops(ops)[own["node"]]]
    iterations = in_loop["node"].value_counts().median() / ops.steps if len(in_loop) > len(own) / 2 else 1.0
    kind = "" if "\n" in group else group
    return [float(iterations), int((ops.graphs.layers["type"] == kind).sum()) if kind else 0, kind]


def _in_loops(ops: StepOps) -> Bools:
    """Return per node whether its function is the body of a loop."""
    calls = ops.graphs.calls
    bodies = calls.loc[calls["role"].isin(_LOOP_ROLES), "function"]
    inside: Bools = ops.graphs.nodes["function"].isin(bodies).to_numpy(bool)
    return inside


def _groups(ops: StepOps, frame: Int64) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """Return for each node its group: file and function, or the class of many layers; empty for none."""
    graphs = ops.graphs
    nodes, frames = graphs.nodes.iloc[creating_nodes(graphs)], graphs.frames
    group = np.append((frames["file"] + "\n" + frames["function"]).to_numpy(dtype=object), "")[frame]
    outside = frames["text"].str.contains(f"{TRAINING_CALLS}|{_GRADIENTS}").to_numpy(bool)
    group[np.append(outside, True)[frame] | nodes["by_keras"].to_numpy(bool)] = ""
    group[graphs.nodes["phase"].isin(_LIBRARY_PHASES).to_numpy(bool)] = ""
    owner, _ = owners(graphs)
    kind = np.append(graphs.layers["type"].to_numpy(dtype=object), "")[np.where(owner < len(graphs.layers), owner, -1)]
    group[np.isin(kind, _RECURRENT)] = ""
    own = graphs.layers["type"].value_counts()
    many = np.isin(kind, own.index[(own >= _MANY_LAYERS) & (own.index != "")].to_numpy(dtype=object))
    group[many] = kind[many]
    return group
