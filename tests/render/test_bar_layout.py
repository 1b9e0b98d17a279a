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
