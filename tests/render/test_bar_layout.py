"""Where bars stand: cut off only where they would dwarf others, named while the names fit."""

import doctest

import numpy as np
import pytest

from tfprof_nb.render import bar_layout
from tfprof_nb.render.panels import Series, StackedBars


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(bar_layout).attempted > 0
    assert doctest.testmod(bar_layout).failed == 0


@pytest.mark.parametrize(("count", "shown"), [(2, ["worker-0", "worker-1"]), (16, None), (17, [])])
def test_bars_are_named_below_while_the_names_fit(count, shown):
    x, names = np.arange(count, dtype=np.float64), [f"worker-{k}" for k in range(count)]
    chart = StackedBars("Hosts", x, [Series("input", x, "#000000")], "host", "ms", names=names)
    written = bar_layout.bar_names(chart, 80)
    if shown is None:
        assert [len(name) for name in written] == [4] * 16
    else:
        assert written == shown


@pytest.mark.parametrize(
    ("totals", "cut"),
    [
        ([10.0] * 113 + [900.0], [113]),  # one slow step
        ([10.0] * 36 + [900.0, 30.0], [36]),  # the lesser one still fits below the break
        ([10.0] * 10 + [30.0], []),  # high, but the others can be read
        ([10.0] * 10 + [900.0] * 10, []),  # two kinds of steps: both are usual
        ([10.0, 900.0, 10.0], []),  # too few to say what is usual
        ([0.0] * 20 + [5.0], []),
    ],
)
def test_a_few_high_bars_do_not_flatten_the_others(totals, cut):
    drawn = bar_layout.cut_off(np.array([totals]), np.zeros(len(totals), bool))
    assert np.flatnonzero(drawn.cut).tolist() == cut
    assert drawn.top == (1.25 * max(np.delete(totals, cut)) if cut else max(totals))
