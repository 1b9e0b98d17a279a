"""Floating-point operations of what ran: of each event its node's, and those of the nodes that it absorbed.

TensorFlow fuses nodes into one kernel, which runs under the name of one of them (``.../Relu:_MklNativeFusedConv2D``
also holds the convolution and its bias).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats, Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.graph_nodes import graph_nodes
from tfprof_nb.analysis.events.op_labels import OpLabels
from tfprof_nb.decode.graphs import Graphs

_FUSED = "Fused"
_LONGEST_FUSION = 10  # nodes in a row that one kernel stands for


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
    float_ops = graphs.nodes["float_ops"].to_numpy(np.float64).copy()
    types = labels.op_type[labels.code[node >= 0]]
    fused = pd.Series(types, dtype=object).str.contains(_FUSED).to_numpy(np.bool_)
    ran = set(node.tolist())
    inputs: Sequence[Sequence[int]] = graphs.nodes["inputs"].tolist()
    for number in np.unique(node[node >= 0][fused]):
        absorbed = float_ops[[number, *_absorbed(int(number), inputs, ran)]]
        float_ops[number] = np.nansum(absorbed) if np.isfinite(absorbed).any() else np.nan
    float_ops[np.setdiff1d(np.arange(len(float_ops)), node)] = np.nan
    return float_ops


def _absorbed(node: int, inputs: Sequence[Sequence[int]], ran: set[int]) -> list[int]:
    """Return the nodes before a node that have no event of their own."""
    found: dict[int, None] = {}
    level = [node]
    for _ in range(_LONGEST_FUSION):
        level = [source for one in level for source in inputs[one] if source not in ran and source not in found]
        found.update(dict.fromkeys(level))
    return list(found)
