"""Which nodes ran inside the kernel of another node.

TensorFlow fuses nodes into one kernel, which runs under the name of one of them: ``.../Relu:_MklNativeFusedConv2D``
also computes the convolution and its bias.
"""

import re
from collections.abc import Iterable, Sequence

from tfprof_nb.decode.sections.graphs import Graphs

_FUSED = "Fused"
# What TensorFlow's remapper and oneDNN fuse into one op (`remapper.cc`, `mkl_layout_pass.cc`).
_FUSIBLE = re.compile(
    r"Add(V2)?|BatchMatMul(V2)?|BiasAdd|Conv[23]D|DepthwiseConv2dNative|Elu|FusedBatchNorm(V[23])?|LeakyRelu|MatMul|Mul|"
    r"Relu6?|Sigmoid|Tanh"
)


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
