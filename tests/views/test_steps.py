"""The steps view: what takes most stands first, and what no step has is left out."""

import numpy as np
import pandas as pd
import pytest

from tfprof_nb._units import cell, milliseconds
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.render.panels import Split, StackedBars
from tfprof_nb.render.readout import means
from tfprof_nb.views.categories import STEP_CATEGORIES
from tfprof_nb.views.step_bars import step_bars
from tfprof_nb.views.steps import _shown_columns, graph


def table():
    """A warm-up step that compiled for long, and two that mostly waited for data."""
    spent = {"host_compute_ms": [5.0, 2.0, 2.0], "input_ms": [1.0, 7.0, 8.0], "compile_ms": [90.0, 0.0, 0.0]}
    frame = pd.DataFrame({key: spent.get(key, [0.0] * 3) for key in STEP_CATEGORIES}, index=np.arange(3))
    return frame.assign(host="a", step_name="s", phase="train", warm_up=[True, False, False], step_ms=[96.0, 9.0, 10.0])


def steps(table):
    return Steps(table=table, summary={}, notes=[], _groups=[])


def test_the_largest_category_stands_right_after_the_step_time():
    keys = [column.key for column in _shown_columns(steps(table()))]
    assert keys[:5] == ["step", "step_ms", "input_ms", "host_compute_ms", "compile_ms"]
    assert set(keys[5:]) == {"warm_up", "step_name", "phase"}


def test_what_no_average_counts_ranks_no_category():
    """One step of validation computes for longer than all training steps wait."""
    validation = table().iloc[[1]].assign(phase="test", host_compute_ms=500.0, step_ms=507.0)
    keys = [column.key for column in _shown_columns(steps(pd.concat([table(), validation])))]
    assert keys[:4] == ["step", "step_ms", "input_ms", "host_compute_ms"]


def test_the_bar_of_the_average_step_and_the_legend_of_the_graph_have_the_same_mean():
    validation = table().iloc[[1, 2]].assign(phase="test", host_compute_ms=500.0, step_ms=507.0)
    both = pd.concat([table(), validation], ignore_index=True)
    bars = step_bars("Step time", both, STEP_CATEGORIES, "time")
    assert bars.marked == (0.0, 3.0, 4.0)
    assert bars.marked_label == "warm-up, test"
    assert dict(zip([one.label for one in bars.series], means(bars), strict=True)) == {
        STEP_CATEGORIES["host_compute_ms"].label: 2.0,
        STEP_CATEGORIES["input_ms"].label: 7.5,
        STEP_CATEGORIES["compile_ms"].label: 0.0,
    }


def test_of_several_hosts_the_bars_are_those_of_the_slowest():
    """Steps that warm up say nothing of that: they are longest on the other one."""
    slow = table().assign(host="b", step_ms=[40.0, 12.0, 13.0], input_ms=[1.0, 10.0, 11.0])
    bars = step_bars("Step time", pd.concat([table(), slow]), STEP_CATEGORIES, "time")
    assert bars.title.startswith("Step time on b,")
    (waited,) = (one for one in bars.series if one.label == STEP_CATEGORIES["input_ms"].label)
    assert waited.values.tolist() == [1.0, 10.0, 11.0]


def test_a_single_step_is_one_bar_across_the_page():
    (bar,) = graph(steps(table().iloc[[1]]))
    assert isinstance(bar, Split)
    assert bar.title == "The step: 9.00 ms"
    assert {part.label: part.value for part in bar.parts if part.value} == {
        STEP_CATEGORIES["host_compute_ms"].label: 2.0,
        STEP_CATEGORIES["input_ms"].label: 7.0,
    }


def test_hosts_stand_beside_the_steps_where_there_are_several():
    keys = [column.key for column in _shown_columns(steps(table().assign(host=["a", "b", "a"])))]
    assert keys[:3] == ["step", "host", "step_ms"]


def test_each_category_says_what_it_is():
    assert all(category.meaning for category in STEP_CATEGORIES.values())
    bars = step_bars("Step time", table(), STEP_CATEGORIES, "time")
    assert isinstance(bars, StackedBars)
    assert [one.meaning for one in bars.series] == [
        STEP_CATEGORIES[key].meaning for key in ("host_compute_ms", "input_ms", "compile_ms")
    ]
    columns = {column.key: column.meaning for column in _shown_columns(steps(table()))}
    assert columns["input_ms"] == STEP_CATEGORIES["input_ms"].meaning


@pytest.mark.parametrize(
    ("times", "label", "input_"), [(1000, "time (s)", 7.5), (1, "time (ms)", 7.5), (0.01, "time (µs)", 75)]
)
def test_bars_have_the_unit_of_the_average_step(times, label, input_):
    spent = [*STEP_CATEGORIES, "step_ms"]
    bars = step_bars(
        "Step time", table().assign(**{key: times * table()[key] for key in spent}), STEP_CATEGORIES, "time"
    )
    assert bars.y_label == label
    drawn = dict(zip([one.label for one in bars.series], means(bars), strict=True))
    assert drawn["input"] == pytest.approx(input_)
    assert cell(bars.series[0].values[1], bars.unit) == milliseconds(2 * times)


def timed(count, **columns):
    """Steps of 10 ms, one after the other, of which the first ten have their ops recorded."""
    frame = pd.concat([table().iloc[[1]]] * count, ignore_index=True).assign(step_ms=10.0, epoch=0)
    return frame.assign(start_ms=10.0 * frame.index, ops_recorded=frame.index < 10, **columns)


def test_steps_whose_ops_were_not_recorded_are_pale_and_the_legend_says_so():
    bars = step_bars("Step time", timed(20), STEP_CATEGORIES, "time")
    assert bars.pale == tuple(range(10, 20))
    assert "not recorded" in bars.pale_label
    recorded = step_bars("Step time", timed(10), STEP_CATEGORIES, "time")
    assert (recorded.pale, recorded.pale_label) == ((), "")


def test_the_legend_leaves_out_steps_that_recording_slowed_as_averages_do():
    frame = timed(20)
    frame.loc[:9, "host_compute_ms"] = 40.0
    bars = step_bars("Step time", frame, STEP_CATEGORIES, "time")
    assert means(bars)[:1] == [pytest.approx(2.0)]
    assert bars.series[0].values[0] == 40.0


def test_epochs_and_long_gaps_between_steps_are_named():
    frame = timed(20, epoch=[0] * 8 + [1] * 12)
    frame.loc[15:, "start_ms"] += 250.0
    assert step_bars("Step time", frame, STEP_CATEGORIES, "time").gaps == ((8.0, "epoch 2"), (15.0, "250 ms gap"))


def test_half_of_the_steps_is_told_where_there_are_a_few():
    measured = Steps(table=timed(20, step_ms=[*range(10, 29), 500.0]), summary={}, notes=[], _groups=[])
    (bars,) = graph(measured)
    assert bars.about == "median 24.5 ms, half of the steps 22.2 ms to 26.8 ms"
    assert graph(Steps(table=timed(3), summary={}, notes=[], _groups=[]))[0].about == ""
