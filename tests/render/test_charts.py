"""The bqplot figures: what they hold, and that clicking and selecting agree."""

from dataclasses import replace

import bqplot
import numpy as np
import pytest

from render import samples
from tfprof_nb.analysis.events.names import without_calls
from tfprof_nb.render import bar_layout, charts, theme


def test_one_bar_per_step_stacked_in_the_given_order():
    bars = charts.stacked_bars(samples.steps(40)).figure.marks[0]
    assert bars.type == "stacked"
    assert bars.y.shape == (3, 40)
    assert bars.colors == [theme.BLUE, theme.VERMILLION, theme.YELLOW]
    assert (bars.scales["x"].min, bars.scales["x"].max) == (-0.5, 39.5)


def test_a_bar_alone_is_as_wide_as_one_of_eight():
    bars = charts.stacked_bars(samples.steps(1)).figure.marks[0]
    assert list(bars.x) == [0.0, 1.0]
    assert bars.y[:, 1].tolist() == [0.0, 0.0, 0.0]
    assert bars.scales["x"].max - bars.scales["x"].min == 8.0


def test_series_of_nothing_but_zero_are_not_drawn():
    chart = charts.stacked_bars(samples.steps(4, marked=()))
    empty = samples.Series("output", np.zeros(4), theme.PURPLE)
    with_empty = charts.stacked_bars(
        samples.StackedBars("", np.arange(4.0), [*samples.steps(4, ()).series, empty], "step", "ms")
    )
    assert len(with_empty.readout.entries) == len(chart.readout.entries) == 3


def test_warm_up_is_hatched_and_left_out_of_the_means():
    chart = charts.stacked_bars(samples.steps(10))
    entries = chart.readout.entries
    means = {entry["label"]: entry["mean"] for entry in entries if entry["values"]}
    assert means == {"host compute": "1.00", "input": "2.00", "compilation": "(warm-up)"}
    assert entries[-1]["label"] == "hatched: warm-up, not in averages"
    stripes = next(mark for mark in chart.figure.marks if isinstance(mark, bqplot.Lines))
    # Both marked bars, 0.8 wide, and nothing beside or above them or that is no number.
    assert stripes.x.shape[0] == 2
    assert np.ptp(stripes.x, axis=1).tolist() == pytest.approx([0.8, 0.8])
    assert (np.abs(stripes.x - np.array([[0.0], [1.0]])) <= 0.4 + 1e-9).all()
    assert stripes.y.max(axis=1).tolist() == pytest.approx([3.75, 3.0])


def test_without_warm_up_nothing_is_set_apart():
    chart = charts.stacked_bars(samples.steps(4, marked=()))
    assert len(chart.figure.marks) == 1
    assert len(chart.readout.entries) == 3


def test_warm_up_does_not_set_the_scale_and_a_bar_that_is_cut_off_keeps_its_proportions():
    # Marked steps of 12 and 3 ms before others of 3 ms: samples.steps. 14% are for what is written above.
    bars, *_, values = charts.stacked_bars(samples.steps(10)).figure.marks
    assert bars.scales["y"].max == pytest.approx(1.25 * 3 * 1.14 * 1.04)
    assert bars.y[:, 0].tolist() == pytest.approx([3.75 / 12, 3.75 * 2 / 12, 3.75 * 9 / 12])
    assert (list(values.text), list(values.x)) == (["12.0 ms"], [0.0])


@pytest.mark.parametrize("count", [1, 40, 400, 5000])
def test_axes_are_linear_labelled_and_have_few_ticks(count):
    figure = charts.stacked_bars(samples.steps(count)).figure
    assert len(figure.marks[0].x) <= 400
    assert [axis.label.split(" (")[0] for axis in figure.axes] == ["step", "ms"]
    assert all(1 <= len(axis.tick_values) <= 7 for axis in figure.axes)
    assert not figure.marks[0].display_legend


def test_the_width_follows_the_cell():
    figure = charts.stacked_bars(samples.steps(4)).figure
    assert figure.layout.width == "100%"
    assert figure.max_aspect_ratio >= 10


def test_a_clicked_bar_is_picked_everywhere():
    chart = charts.stacked_bars(
        samples.StackedBars("", np.array([3.0, 5.0, 9.0]), samples.steps(3).series, "step", "ms", selects="step")
    )
    chart.figure.marks[0].selected = [1]
    assert (chart.picked, chart.readout.selected) == (5.0, 1)
    chart.readout.selected = 2
    assert (chart.picked, list(chart.figure.marks[0].selected)) == (9.0, [2])
    chart.picked = None
    assert (chart.readout.selected, chart.figure.marks[0].selected) == (None, None)


def test_a_step_inside_an_averaged_bar_selects_that_bar():
    chart = charts.stacked_bars(samples.steps(1000))
    chart.picked = 7.0
    assert list(chart.figure.marks[0].selected) == [2]
    assert chart.picked == 7.0


def test_the_readout_knows_every_value_and_its_chart():
    chart = charts.stacked_bars(samples.steps(3))
    assert chart.readout.chart in chart.figure._dom_classes
    assert chart.readout.x == [0.0, 1.0, 2.0]
    assert chart.readout.entries[2]["values"] == [9.0, 0.0, 0.0]


def test_stacked_lines_lie_on_one_another():
    chart = charts.lines(samples.memory(500))
    highest = {mark.colors[0]: mark.y.max() for mark in chart.figure.marks}
    assert highest == {theme.TEAL: 10.0, theme.WINE: 2.0}
    # The lower layer is drawn last, over the upper one.
    assert chart.figure.marks[-1].colors == [theme.WINE]


def test_unstacked_lines_differ_by_more_than_colour():
    marks = charts.lines(samples.memory(50, stacked=False)).figure.marks
    assert len({mark.line_style for mark in marks}) == 2


def test_horizontal_bars_are_labelled_with_name_and_value():
    chart = charts.bars(samples.bars())
    labels = list(chart.figure.axes[0].tick_labels.values())
    assert labels[0] == "MatMul  3.00 ms"
    assert list(chart.figure.marks[0].y) == [3000.0, 1000.0, 0.0]  # the last one is out of sight: see charts.bars


def test_bars_with_long_names_can_be_told_apart():
    names = [f"StatefulPartitionedCall/net/{side}/dense/Tensordot/MatMul/MatMul" for side in ("left", "right")]
    parts = [samples.Part(name, 1.0, theme.BLUE) for name in names]
    chart = charts.bars(samples.Bars("", parts, trim=without_calls))
    assert list(chart.figure.axes[0].tick_labels.values()) == [
        "net/left/dense/Tensordot/MatMul/MatMul  1.00 µs",
        "net/right/dense/Tensordot/MatMul/MatMul  1.00 µs",
    ]


def test_a_percentage_has_an_axis_of_its_own_and_is_read_with_the_rest():
    percent = samples.Series("fragmentation (%)", np.linspace(0, 50, 20), theme.ROSE)
    chart = charts.lines(replace(samples.memory(20), percent=percent))
    line = chart.figure.marks[-1]
    assert (line.scales["y"].max, line.colors, line.fill) == (104.0, [theme.ROSE], "none")
    assert line.scales["y"] is not chart.figure.marks[0].scales["y"]
    assert [axis.side for axis in chart.figure.axes] == ["bottom", "left", "right"]
    assert chart.readout.entries[-1]["values"][-1] == 50


def test_pale_bars_lie_on_paper_and_gaps_are_named_where_there_is_room():
    panel = replace(samples.steps(10, marked=()), pale=(4.0, 5.0), gaps=((3.0, "epoch 2"), (4.0, "epoch 3"), (8.0, "")))
    paper, bars, *over = charts.stacked_bars(panel).figure.marks
    assert bars.opacities[4:6] == [bar_layout.PALE] * 2
    assert paper.y.nonzero()[0].tolist() == [4, 5]
    (named,) = [mark for mark in over if isinstance(mark, bqplot.Label)]
    assert named.text.tolist()[-1:] == ["epoch 2"]  # beside the value of the bar that is cut off
    lines = [mark for mark in over if getattr(mark, "line_style", "") == "dashed"]
    assert lines[0].x[:, 0].tolist() == [2.5, 3.5, 7.5]
