"""Which layer each node of a graph belongs to."""

from graph_sections import Function, Node, graphs_section
from tfprof_nb.analysis.source.owners import owners
from tfprof_nb.decode.sections.graphs import read_graphs


def test_owners_are_found_once_for_all_results_of_a_host():
    section = graphs_section(Function("f", [Node("MatMul", "MatMul")]))
    graphs, others = read_graphs(section), read_graphs(section)
    assert graphs.once(owners) is graphs.once(owners)
    assert others.once(owners) is not graphs.once(owners)
