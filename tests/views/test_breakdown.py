"""The page that shows the tree of costs."""

import pandas as pd

from tfprof_nb.analysis.breakdown.breakdown import Breakdown
from tfprof_nb.analysis.breakdown.tree import Tree
from tfprof_nb.render.panels import Note, Table
from tfprof_nb.views.breakdown import panels


def test_parts_are_indented_below_what_they_are_parts_of():
    tree = Tree()
    step = tree.child("cell", "step", "step", "step")
    tree.nodes[step].count = 3
    tree.add(tree.child(step, "op:MatMul", "MatMul", "op"), 2_000_000_000)
    table = tree.table()
    (shown,) = (panel for panel in panels(Breakdown(table, {"cell_ms": 2.0}, [])) if isinstance(panel, Table))
    assert shown.frame["name"].tolist() == ["cell", "\xa0\xa0step", "\xa0\xa0\xa0\xa0MatMul"]
    assert shown.frame["depth"].tolist() == [0, 1, 2]
    assert pd.isna(shown.frame["count"].tolist()[2]), "unknown is not zero"
    assert shown.frame["count"].tolist()[1] == 3


def test_a_capture_of_no_cell_is_not_called_one():
    tree = Tree()
    tree.add(tree.child("cell", "op:MatMul", "MatMul", "op"), 2_000_000_000)
    about, shown = panels(Breakdown(tree.table(), {"cell_ms": 2.0}, [], of_cell=False))
    assert isinstance(about, Note)
    assert about.text.startswith("The time of the main thread from its first recorded event to its last, 2.00 ms: ")
    assert shown.frame["name"].tolist() == ["main thread", "\xa0\xa0MatMul"]
    assert not any("cell" in column.header for column in shown.columns)
