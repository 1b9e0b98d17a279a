"""The section ``graphs`` of a sidecar as frames."""

import pytest

from graph_sections import Function, Node, graphs_section
from tfprof_nb.decode.sections.graphs import read_graphs


@pytest.mark.parametrize(("table", "column"), [("frames", "file"), ("layers", "type"), ("variables", "name")])
def test_texts_of_a_table_that_is_missing_are_no_numbers(table, column):
    section = graphs_section(Function("f", [Node("MatMul", "MatMul")])) | {table: {}}
    found = getattr(read_graphs(section), table)[column]
    assert (found + "\n").tolist() == []
