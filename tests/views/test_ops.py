"""Time by op: columns are there where something is known."""

from builders import XSpace, forest
from tfprof_nb.analysis.ops.ops import ops
from tfprof_nb.render.panels import Table, Tabs
from tfprof_nb.views.ops import panels


def columns(**stats):
    """The headers of the table of ops, of a device that ran one instruction."""
    space = XSpace()
    line = space.plane("/device:TPU:0").line("XLA Ops")
    line.event("dot.1", duration_us=10, hlo_op="dot.1", **stats)
    found = panels(ops([forest(space)]))
    [tabs] = [panel for panel in found if isinstance(panel, Tabs)]
    [table] = [panel for panel in tabs.tabs[0].open() if isinstance(panel, Table)]
    return [column.header for column in table.columns]


def test_rates_are_shown_where_float_ops_are_known():
    assert {"float ops", "GFLOP/s"} <= set(columns(flops=1000))
    assert not {"float ops", "GFLOP/s", "bound by"} & set(columns())
