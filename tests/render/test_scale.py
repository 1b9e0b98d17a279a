"""Ticks are few and round; charts with too many bars keep their total and their peaks."""

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from render import samples
from tfprof_nb.render import scale
from tfprof_nb.render.panels import Series, StackedBars


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(scale).failed == 0


@given(st.floats(0, 1e12), st.floats(1e-6, 1e12))
def test_ticks_are_few_and_inside(low, length):
    found = scale.ticks(low, low + length)
    assert len(found) <= 6
    # At the limits of what a float can tell apart, a tick may round past the end.
    assert all(low - 1e-9 * (low + length) <= t <= (low + length) * (1 + 1e-9) for t in found)


def test_whole_ticks_never_fall_between_steps():
    assert scale.whole_ticks(10, 12) == [10.0, 11.0, 12.0]


def test_thinned_bars_keep_the_total():
    chart, per_bar = scale.thin_bars(samples.steps(1000, marked=(0.0, 1.0, 2.0)), most=400)
    assert per_bar == 3
    assert len(chart.x) == 334
    assert chart.series[2].values[0] == pytest.approx(9 / 3)
    sizes = np.array([3] * 333 + [1])
    assert sum((one.values * sizes).sum() for one in chart.series) == pytest.approx(1000 * 3 + 9)
    assert list(chart.marked) == [0.0]


def test_few_bars_stay_as_they_are():
    chart = samples.steps(400)
    assert scale.thin_bars(chart) == (chart, 1)


def test_thinned_lines_keep_the_peak_and_both_ends():
    chart, _ = scale.thin_lines(samples.memory(5000), most=100)
    assert len(chart.x) <= 102
    assert chart.series[1].values.max() == 8.0
    assert (chart.x[0], chart.x[-1]) == (0.0, 10.0)


@pytest.mark.parametrize(("count", "shown"), [(2, ["worker-0", "worker-1"]), (16, None), (17, [])])
def test_bars_are_named_below_while_the_names_fit(count, shown):
    x, names = np.arange(count, dtype=np.float64), [f"worker-{k}" for k in range(count)]
    chart = StackedBars("Hosts", x, [Series("input", x, "#000000")], "host", "ms", names=names)
    written = scale.bar_names(chart, 80)
    if shown is None:
        assert [len(name) for name in written] == [4] * 16
    else:
        assert written == shown
