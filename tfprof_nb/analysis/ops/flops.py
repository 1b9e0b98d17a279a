"""Floating-point operations of events: those of the event's node, and of the nodes that a fused kernel absorbed.

TensorFlow fuses nodes into one kernel, which runs under the name of one of them: ``.../Relu:_MklNativeFusedConv2D``
also computes the convolution and its bias.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats, Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.graph_nodes import graph_nodes
from tfprof_nb.analysis.events.op_labels import OpLabels, label_all_ops
from tfprof_nb.decode.sections.graphs import Graphs

_FUSED = "Fused"
# What TensorFlow's remapper and oneDNN fuse into one op (`remapper.cc`, `mkl_layout_pass.cc`).
_FUSIBLE = re.compile(
    r"Add(V2)?|BatchMatMul(V2)?|BiasAdd|Conv[23]D|DepthwiseConv2dNative|Elu|FusedBatchNorm(V[23])?|LeakyRelu|MatMul|Mul|"
    r"Relu6?|Sigmoid|Tanh"
)


def float_ops_of_events(forest: Forest, graphs: Graphs, events: Int64) -> Floats:
    """Return the float ops of events of a host, 0 where they are unknown."""
    if not len(graphs.nodes):
        return np.zeros(len(events))
    float_ops = np.append(np.nan_to_num(forest.once(_float_ops_of_nodes, graphs)), 0.0)
    return float_ops[forest.once(graph_nodes, graphs)[events]]


def _float_ops_of_nodes(forest: Forest, graphs: Graphs) -> Floats:
    return float_ops_of_nodes(graphs, forest.once(graph_nodes, graphs), forest.once(label_all_ops))


def float_ops_of_nodes(graphs: Graphs, node: Int64, labels: OpLabels) -> Floats:
    """Return the float ops of one run of each node that ran, with the nodes that it absorbed; NaN if unknown.

    Parameters
    ----------
    node, labels
        Per event: its node, and its op, whose type shows whether it is fused.
    """
    of_node = graphs.nodes["float_ops"].to_numpy(np.float64)
    float_ops = np.full(len(of_node), np.nan)
    known = node >= 0
    ops = max(len(labels.op_name), 1)
    kernels = [divmod(pair, ops) for pair in pd.unique(node[known] * ops + labels.code[known]).tolist()]
    ran = [number for number, _ in kernels]
    float_ops[ran] = of_node[ran]
    fused = FusedOps(graphs, ran)
    for number, op in kernels:
        if absorbed := fused.absorbed_by(number, labels.op_type[op]):
            parts = of_node[[number, *absorbed]]
            float_ops[number] = np.nansum(parts) if np.isfinite(parts).any() else np.nan
    return float_ops


class FusedOps:
    """Finds the nodes that a fused kernel absorbed: fusible nodes before its own that have no event themselves.

    Parameters
    ----------
    graphs
        The functions that ran.
    ran
        The numbers of the nodes that have events.
    """

    def __init__(self, graphs: Graphs, ran: Iterable[int]) -> None:
        self._types: Sequence[str] = graphs.nodes["op"].tolist()
        self._inputs: Sequence[Sequence[int]] = graphs.nodes["inputs"].tolist()
        self._ran = frozenset(ran)

    def absorbed_by(self, node: int, kernel_type: str) -> list[int]:
        """Return the nodes that a kernel of this type computed besides the node that it is named after."""
        if node < 0 or _FUSED not in kernel_type or _FUSED in self._types[node]:
            return []
        absorbed: dict[int, None] = {}
        open_nodes = [node]
        while open_nodes:
            sources = [source for source in self._inputs[open_nodes.pop()] if self._is_absorbed(source)]
            open_nodes += [source for source in sources if source not in absorbed]
            absorbed.update(dict.fromkeys(sources))
        return list(absorbed)

    def _is_absorbed(self, node: int) -> bool:
        return node not in self._ran and _FUSIBLE.fullmatch(self._types[node]) is not None
