"""Charts with too many bars keep their total, those with too many points their peaks."""

import numpy as np
import pytest

from render import samples
from tfprof_nb.render.thinning import thin_bars, thin_lines


def test_thinned_bars_keep_the_total():
    chart, per_bar = thin_bars(samples.steps(1000, marked=(0.0, 1.0, 2.0)), limit=400)
    assert per_bar == 3
    assert len(chart.x) == 334
    assert chart.series[2].values[0] == pytest.approx(9 / 3)
    sizes = np.array([3] * 333 + [1])
    assert sum((one.values * sizes).sum() for one in chart.series) == pytest.approx(1000 * 3 + 9)
    assert list(chart.marked) == [0.0]


def test_few_bars_stay_as_they_are():
    chart = samples.steps(400)
    assert thin_bars(chart) == (chart, 1)


def test_thinned_lines_keep_the_peak_and_both_ends():
    chart = thin_lines(samples.memory(5000), limit=100)
    assert len(chart.x) <= 102
    assert chart.series[1].values.max() == 8.0
    assert (chart.x[0], chart.x[-1]) == (0.0, 10.0)
