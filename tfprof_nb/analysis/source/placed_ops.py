"""Ops with their line of code: the line that created them in a traced function, or the line of the cell that ran them.

An op of a function belongs to the user's innermost line that created its node; an op of the backward pass to the line
of its forward op. An op that ran eagerly belongs to the line of the cell that was running.
"""

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.graph_nodes import graph_nodes
from tfprof_nb.analysis.events.names import Category
from tfprof_nb.analysis.events.op_labels import label_all_ops, on_device_timeline
from tfprof_nb.analysis.ops.flops import FusedOps
from tfprof_nb.analysis.result import empty_table
from tfprof_nb.analysis.source.cell_lines import running_lines, unrecorded_factor
from tfprof_nb.analysis.source.gradients import forward_nodes
from tfprof_nb.analysis.source.owners import OPTIMIZER, owners
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.analysis.steps.steps import host_steps
from tfprof_nb.analysis.steps.unrecorded import factors
from tfprof_nb.decode.sections.cell import Cell
from tfprof_nb.decode.sections.graphs import Graphs

KEYS = ["file", "line", "op_name", "op_type", "side", "gradient", "phase", "layer", "kind", "node"]
OP_TYPES = {
    **dict.fromkeys((*KEYS, "absorbed"), object),
    "gradient": bool,
    **dict.fromkeys(("line", "node", "occurrences"), np.int64),
    "op_ms": np.float64,
}
_MAGIC = "get_ipython().run_cell_magic("  # the call of the magic, in which the captured cell ran


def placed_ops(forest: Forest, graphs: Graphs, cell: Cell, grouping: Grouping | None = None) -> pd.DataFrame:
    """Sum the ops of one host by line: the columns `KEYS`, ``op_ms occurrences absorbed``.

    ``op_ms`` is time in the op itself, summed over threads and streams. ``file`` is empty and ``line`` 0 if the line is
    unknown, ``node`` is -1 for an op of no function. ``absorbed`` names the ops that were fused into it. Where ops of
    some steps were not recorded, those of other steps of their phase stand for them.
    """
    if not cell.text and graphs.nodes.empty:  # most foreign files: no need to label their ops
        return empty_table(OP_TYPES)
    labels = forest.once(label_all_ops)
    # Iterators of tf.data mostly wait; the ops that they run have events of their own.
    iterator = forest.with_names(forest.names.category == Category.TF_DATA)
    events = np.flatnonzero((labels.code >= 0) & ~iterator & (forest.on_host | on_device_timeline(forest)))
    node = forest.once(graph_nodes, graphs)[events]
    eager = np.where(node < 0, running_lines(forest, cell, events), 0) if cell.text else 0
    runs = pd.DataFrame(
        {
            "op": labels.code[events],
            "on_device": forest.on_device[events],
            "node": node,
            "eager_line": eager,
            "op_ps": forest.self_ps_among(events),
            "runs": 1,
        }
    )
    stands_for = factors(forest, forest.once(host_steps, grouping).table, events) if grouping else None
    if stands_for:
        runs["op_ps"], runs["runs"] = runs["op_ps"] * stands_for.time, stands_for.number
    sums = runs.groupby(["op", "on_device", "node", "eager_line"], as_index=False, sort=False).agg(
        op_ms=("op_ps", "sum"), occurrences=("runs", "sum")
    )
    sums["op_name"], sums["op_type"] = labels.op_name[sums["op"]], labels.op_type[sums["op"]]
    sums["side"] = np.where(sums["on_device"], "device", "host")
    factor = sums["eager_line"].map(unrecorded_factor(forest, cell)).fillna(1.0)
    sums["op_ms"] *= factor / PS_PER_MS
    sums["occurrences"] = (sums["occurrences"] * factor).round().astype(np.int64)
    return _with_absorbed(_with_lines(sums, graphs, cell), graphs)


def _with_lines(ops: pd.DataFrame, graphs: Graphs, cell: Cell) -> pd.DataFrame:
    """Add the line that created each op's node, and its Keras layer and phase."""
    nodes, node = graphs.nodes, ops["node"].to_numpy(np.int64)
    frame = np.append(graphs.once(creating_frames), -1)[node]
    eager = ops["eager_line"] > 0
    layer = np.append(_layers(graphs), -1)[node]
    return ops.assign(
        file=np.where(eager, cell.file, _picked(graphs.frames["file"], frame, "")),
        line=np.where(eager, ops["eager_line"], _picked(graphs.frames["line"], frame, 0)).astype(np.int64),
        gradient=np.append(graphs.once(forward_nodes), -1)[node] >= 0,
        phase=_picked(nodes["phase"], node, ""),
        layer=_picked(graphs.layers["name"], layer, ""),
        kind=_picked(graphs.layers["type"], layer, ""),
    )


def _layers(graphs: Graphs) -> Int64:
    """Return the Keras layer of each node of a forward or backward pass; -1 for none."""
    if graphs.nodes.empty:
        return np.zeros(0, dtype=np.int64)
    owner, part = graphs.once(owners)
    return np.where((owner < len(graphs.layers)) & (part != OPTIMIZER), owner, -1)


def _picked(values: pd.Series, places: Int64, missing: object) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """Return the values at some places, and ``missing`` where the place is -1."""
    return np.append(values.to_numpy(dtype=object), [missing])[places]


def creating_nodes(graphs: Graphs) -> Int64:
    """Return for each node the node to whose line it belongs: itself, or its forward node."""
    forward = graphs.once(forward_nodes)
    return np.where(forward >= 0, forward, np.arange(len(forward)))


def creating_frames(graphs: Graphs) -> Int64:
    """Return for each node the user's innermost frame that created it, or its forward node; -1 for none."""
    innermost = np.array([frames[0] if frames else -1 for frames in users_traces(graphs)] + [-1], dtype=np.int64)
    created: Int64 = innermost[graphs.nodes["trace"].to_numpy(np.int64)[graphs.once(creating_nodes)]]
    return created


def users_traces(graphs: Graphs) -> list[list[int]]:
    """Return the traces without the lines of libraries and of the magic's own call."""
    frames = graphs.frames
    shown = [users and not text.startswith(_MAGIC) for users, text in zip(frames["users"], frames["text"], strict=True)]
    return [[frame for frame in trace if shown[frame]] for trace in graphs.traces]


def _with_absorbed(ops: pd.DataFrame, graphs: Graphs) -> pd.DataFrame:
    """Add ``absorbed``: type and line of each node that a fused op computed besides its own."""
    fused = FusedOps(graphs, ops["node"])
    lines = np.append(graphs.frames["line"].to_numpy(np.int64), 0)[graphs.once(creating_frames)]
    types = graphs.nodes["op"].tolist()
    absorbed = [fused.absorbed_by(*op) for op in zip(ops["node"], ops["op_type"], strict=True)]
    return ops.assign(absorbed=[", ".join(f"{types[k]} (line {lines[k]})" for k in nodes) for nodes in absorbed])
