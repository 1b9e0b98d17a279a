"""Which nodes a fused kernel absorbed, on graphs by hand."""

import pytest

from graph_sections import Function, Node, graphs_section
from tfprof_nb.analysis.ops.flops import FusedOps
from tfprof_nb.decode.sections.graphs import read_graphs


def layer():
    """A convolution with bias and activation: 0 reads the kernel, 1 convolves, 2 adds the bias, 3 is the Relu."""
    nodes = [Node("read", "ReadVariableOp"), Node("conv", "Conv2D", inputs=(0,)), Node("bias", "BiasAdd", inputs=(1,))]
    return read_graphs(graphs_section(Function("f", [*nodes, Node("relu", "Relu", inputs=(2,))])))


@pytest.mark.parametrize(
    ("ran", "node", "kernel", "absorbed"),
    [
        ((3,), 3, "_FusedConv2D", [2, 1]),  # reading the kernel is not fused
        ((1, 3), 3, "_FusedConv2D", [2]),  # what ran by itself was not absorbed, nor what is before it
        ((3,), 3, "Relu", []),
        ((3,), -1, "_FusedConv2D", []),
    ],
)
def test_a_fused_kernel_absorbs_the_fusible_nodes_before_it_that_did_not_run(ran, node, kernel, absorbed):
    assert FusedOps(layer(), ran).absorbed_by(node, kernel) == absorbed


def test_an_op_that_is_fused_by_its_own_type_absorbs_nothing():
    nodes = [Node("conv", "Conv2D"), Node("norm", "FusedBatchNormV3", inputs=(0,))]
    assert FusedOps(read_graphs(graphs_section(Function("f", nodes))), [1]).absorbed_by(1, "FusedBatchNormV3") == []


def test_a_node_that_is_reached_twice_is_absorbed_once():
    nodes = [Node("0", "Mul"), *(Node(str(k), "Add", inputs=(k - 1, k - 1)) for k in range(1, 60))]
    fused = FusedOps(read_graphs(graphs_section(Function("f", nodes))), [59])
    assert fused.absorbed_by(59, "_FusedAdd") == list(range(58, -1, -1))
