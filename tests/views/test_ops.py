"""Time by op: columns are there where something is known."""

from builders import XSpace, forest
from shown import shown
from tfprof_nb.analysis.ops.ops import ops
from tfprof_nb.render.panels import Bars, Table, Tabs
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


def test_charts_are_by_type_and_by_op_on_each_side():
    space = XSpace()
    space.plane("/host:CPU").line("t").event("a/Add:AddV2", duration_us=3)
    stream = space.plane("/device:GPU:0").line("Stream #1")
    for k, name in enumerate("bc"):
        stream.event("gemm", start_us=10 * k, duration_us=4 + k, tf_op=f"{name}:MatMul")
    [tabs] = [panel for panel in panels(ops([forest(space)])) if isinstance(panel, Tabs)]
    charts = [panel for panel in shown(tabs.tabs[0].open()) if isinstance(panel, Bars)]
    assert {chart.title: [(part.label, round(part.value, 6)) for part in chart.parts] for chart in charts} == {
        "Self time by op type, on devices": [("MatMul", 9)],
        "Self time by op, on devices": [("c", 5), ("b", 4)],
        "Self time by op type, on hosts": [("AddV2", 3)],
        "Self time by op, on hosts": [("a/Add", 3)],
    }
