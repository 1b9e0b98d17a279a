"""What each layer costs: its ops of the forward and the backward pass, and its share of the optimizer.

A layer is one of Keras' or, elsewhere, a trainable variable with the ops that use it.
"""

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb.analysis.source.layer_frames import layer_frames
from tfprof_nb.analysis.source.owners import PARTS, is_models, owners
from tfprof_nb.analysis.step_ops.step_ops import StepOps
from tfprof_nb.decode.sections.graphs import Graphs

COLUMNS = [
    *("layer", "kind", "parameters", "alone_share", "covered_share", "op_ms"),
    *("forward_ms", "backward_ms", "optimizer_ms", "frame", "behind"),
]


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
    owner, part = graphs.once(owners)
    per_node = ops.per_node["op_ms"].reindex(graphs.nodes.index, fill_value=0.0).to_numpy()
    costs = np.zeros((int(owner.max(initial=-1)) + 1, len(PARTS)))
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
    parameters = int(variables.loc[is_models(variables), "parameters"].fillna(0).sum())
    forward = own & (nodes["phase"].isin(["forward", ""])).to_numpy(bool)
    named = graphs.layers.iloc[number] if number < len(graphs.layers) else None
    name = str(graphs.variables["name"].iloc[number - len(graphs.layers)] if named is None else named["name"])
    kind = "" if named is None else str(named["type"])
    frame = int(graphs.once(layer_frames)[number])
    whole = float(costs.sum())
    return [name, kind, parameters, share.alone, share.covered, whole, *costs, frame, _behind(graphs, owner, forward)]


def _behind(graphs: Graphs, owner: Int64, forward: Bools) -> str:
    """Return the name of the layer that computes the data which a layer takes."""
    own = np.flatnonzero(forward)
    sources = {source for inputs in graphs.nodes["inputs"].iloc[own] for source in inputs}
    before = sorted({int(owner[source]) for source in sources} - {int(owner[own[0]]) if len(own) else -1, -1})
    known = [number for number in before if number < len(graphs.layers)]
    return str(graphs.layers["name"].iloc[known[0]]) if len(known) == 1 else ""
