"""Nodes of backward passes and their forward nodes."""

import pytest

from graph_sections import Function, Node, graphs_section
from tfprof_nb.analysis.source.gradients import forward_nodes
from tfprof_nb.decode.sections.graphs import read_graphs


def forward_of(*functions):
    """By name of node, the function and the node that it is the gradient of."""
    graphs = read_graphs(graphs_section(*functions))
    nodes, names = graphs.nodes, graphs.functions["name"]
    found = zip(nodes["name"], forward_nodes(graphs), strict=True)
    return {name: (names[nodes["function"][k]], nodes["name"][k]) for name, k in found if k >= 0}


def test_within_a_function_the_capture_knows():
    nodes = [Node("MatMul", "MatMul"), Node("gradient_tape/MatMul", "MatMul", forward=0)]
    assert forward_of(Function("f", nodes)) == {"gradient_tape/MatMul": ("f", "MatMul")}


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("gradients/MatMul_grad/MatMul_1", "MatMul"),
        ("gradients/dense/Relu_grad/ReluGrad", "dense/Relu"),
        ("gradients/a_grad/b_grad/Sum", "a_grad/b"),
        ("gradients/Relu_grad", "Relu"),
        ("gradients/AddN", None),
        ("MatMul_grad/MatMul", None),
    ],
)
def test_across_functions_the_name_tells(name, of):
    forward = Function("__forward_f_9", [Node(n, "Op") for n in ("MatMul", "dense/Relu", "Relu", "a_grad/b")])
    backward = Function("__inference___backward_f_3_10", [Node(name, "Op")])
    assert forward_of(forward, backward) == ({name: ("__forward_f_9", of)} if of else {})


def test_a_function_traced_twice_has_two_partners():
    functions = [
        Function("__forward_f_9", [Node("x", "Op")]),
        Function("__forward_f_19", [Node("x", "Op")]),
        Function("__inference___backward_f_3_10", [Node("gradients/x_grad/a", "Op")]),
        Function("__inference___backward_f_13_20", [Node("gradients/x_grad/b", "Op")]),
        Function("__inference___backward_g_13_20", [Node("gradients/x_grad/c", "Op")]),
    ]
    assert forward_of(*functions) == {
        "gradients/x_grad/a": ("__forward_f_9", "x"),
        "gradients/x_grad/b": ("__forward_f_19", "x"),
    }


@pytest.mark.parametrize(
    "name",
    [
        "tape/rnn/while/gradients/rnn/while/cell/MatMul_grad/MatMul_1",
        "gradients/while_grad/gradients/rnn/while/cell/MatMul_grad/MatMul_1",
        "tape/while/gradients/AddN",
    ],
)
def test_the_gradient_of_a_loop_belongs_to_the_body_that_it_is_named_after(name):
    bodies = [
        Function(body, [Node("rnn/while/cell/MatMul", "MatMul")])
        for body in ("rnn_while_body_1", "rnn_while_body_2_rewritten", "rnn_while_body_3")
    ]
    gradient = Function("rnn_while_body_2_grad_7", [Node(name, "MatMul")])
    expected = {name: ("rnn_while_body_2_rewritten", "rnn/while/cell/MatMul")} if "MatMul" in name else {}
    assert forward_of(*bodies, gradient) == expected
