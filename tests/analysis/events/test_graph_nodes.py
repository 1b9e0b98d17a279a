"""Events joined with the nodes of the functions that ran."""

import pytest

from builders import XSpace, forest
from graph_sections import Function, Node, graphs_section
from tfprof_nb.analysis.events.graph_nodes import graph_nodes
from tfprof_nb.decode.sections.graphs import read_graphs


def joined(space, *functions):
    """Return, by name of event, the function and the node that it ran; None where it ran none."""
    events = forest(space)
    graphs = read_graphs(graphs_section(*functions))
    nodes = graph_nodes(events, graphs)
    found = {}
    for name, node in zip(events.host.names[events.host.metadata], nodes, strict=True):
        row = graphs.nodes.iloc[node] if node >= 0 else None
        found[name] = None if row is None else (graphs.functions["name"][row["function"]], row["name"])
    return found


def called(name, *ops, thread=False):
    """One call of a function in which ops run, on the caller's own thread or on another."""
    space = XSpace()
    cpu = space.plane("/host:CPU")
    python = cpu.line("python")
    python.event(f"EagerLocalExecute: {name}", duration_us=100)
    python.event("FunctionRun", start_us=1, duration_us=90, _pt=2, _p=7)
    worker = cpu.line("worker") if thread else python
    worker.event("ExecutorState::Process", start_us=2, duration_us=80, _ct=2, _c=7)
    for number, op in enumerate(ops):
        worker.event(op, start_us=3 + number, duration_us=1)
    return space


RELU = Function("f", [Node("a/Relu", "Relu")])


@pytest.mark.parametrize("thread", [False, True])
def test_a_name_that_two_functions_use_belongs_to_the_one_that_was_called(thread):
    other = Function("g", [Node("a/Relu", "Relu")])
    assert joined(called("g", "a/Relu:Relu", thread=thread), RELU, other)["a/Relu:Relu"] == ("g", "a/Relu")


def test_a_node_of_a_called_function_bears_the_callers_nodes_name():
    outer = Function("f", [Node("StatefulPartitionedCall", "StatefulPartitionedCall")], [(0, "call", 1)])
    inner = Function("g", [Node("x", "Mul"), Node("call", "PartitionedCall")], [(1, "call", 2)], called=False)
    innermost = Function("h", [Node("y", "Add")], called=False)
    found = joined(
        called("f", "StatefulPartitionedCall/x:Mul", "StatefulPartitionedCall/call/y:Add"), outer, inner, innermost
    )
    assert found["StatefulPartitionedCall/x:Mul"] == ("g", "x")
    assert found["StatefulPartitionedCall/call/y:Add"] == ("h", "y")


def test_nodes_of_loops_and_branches_are_found_by_role():
    calls = [(0, "cond", 1), (0, "body", 2)]
    functions = [
        Function("f", [Node("while", "While")], calls),
        Function("while_cond", [Node("while/Less", "Less")], called=False),
        Function("while_body", [Node("while/Sin", "Sin")], called=False),
    ]
    found = joined(called("f", "while/cond/_0/while/Less:Less", "while/body/_1/while/Sin:Sin"), *functions)
    assert found["while/cond/_0/while/Less:Less"] == ("while_cond", "while/Less")
    assert found["while/body/_1/while/Sin:Sin"] == ("while_body", "while/Sin")


@pytest.mark.parametrize(
    "name",
    [
        "ArithmeticOptimizer/ReplaceMulWithSquare_mul",
        "mul/_5",
        "mul__cf__3",
        "mul-0-TransposeNHWCToNCHW-LayoutOptimizer",
    ],
)
def test_what_the_optimizer_added_to_names_is_taken_off(name):
    assert joined(called("f", f"{name}:Mul"), Function("f", [Node("mul", "Mul")]))[f"{name}:Mul"] == ("f", "mul")


def test_an_eager_op_is_no_node():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("EagerExecute", duration_us=20, is_func=0)
    python.event("EagerLocalExecute: Relu", start_us=1, duration_us=10)
    python.event("a/Relu:Relu", start_us=2, duration_us=5)
    assert joined(space, RELU)["a/Relu:Relu"] is None


def test_what_tf_data_runs_is_looked_for_in_the_functions_that_nobody_calls():
    space = XSpace()
    space.plane("/host:CPU").line("worker").event("a/Relu:Relu", duration_us=5)
    mapped = Function("map", [Node("a/Relu", "Relu")], called=False)
    assert joined(space, RELU, mapped)["a/Relu:Relu"] == ("map", "a/Relu")


def test_an_unknown_name_is_no_node():
    found = joined(called("f", "b/Relu:Relu"), RELU)
    assert found["b/Relu:Relu"] is None


def test_without_graphs_there_are_no_nodes():
    assert set(joined(called("f", "a/Relu:Relu")).values()) == {None}
