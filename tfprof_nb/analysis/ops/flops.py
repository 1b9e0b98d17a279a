"""Floating-point operations of events: those of the event's node, and of the nodes that a fused kernel absorbed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats, Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.fused_ops import FusedOps
from tfprof_nb.analysis.events.graph_nodes import graph_nodes
from tfprof_nb.analysis.events.op_labels import OpLabels
from tfprof_nb.decode.sections.graphs import Graphs


def float_ops_of_events(forest: Forest, graphs: Graphs, labels: OpLabels) -> Floats:
    """Return the float ops of each event of a host, 0 where they are not known."""
    if not len(graphs.nodes):
        return np.zeros(len(forest.host))
    node = graph_nodes(forest, graphs, labels)
    float_ops = float_ops_of_nodes(graphs, node, labels)
    return np.append(np.nan_to_num(float_ops), 0.0)[node]


def float_ops_of_nodes(graphs: Graphs, node: Int64, labels: OpLabels) -> Floats:
    """Return the float ops of one run of each node that ran, with those that it absorbed; NaN where none is known.

    Parameters
    ----------
    graphs
        The functions that ran.
    node, labels
        Of each event its node, and its op: the type of the kernel that ran tells a fused one.
    """
    of_node = graphs.nodes["float_ops"].to_numpy(np.float64)
    float_ops = np.full(len(of_node), np.nan)
    known = node >= 0
    float_ops[node[known]] = of_node[node[known]]
    fused = FusedOps(graphs, node[known].tolist())
    kernels = pd.DataFrame({"node": node[known], "op": labels.code[known]}).drop_duplicates()
    for number, op in kernels.itertuples(index=False):
        if absorbed := fused.absorbed_by(number, labels.op_type[op]):
            parts = of_node[[number, *absorbed]]
            float_ops[number] = np.nansum(parts) if np.isfinite(parts).any() else np.nan
    return float_ops
