"""Where what a capture does once hides a gain, the answer is the clock's, and longer training's stands beside it."""

import pandas as pd
import pytest

from tfprof_nb.analysis.compare.headline import headline
from tfprof_nb.analysis.compare.pace import Pace


def run(steps_ms, once_ms, examples=100):
    """A capture that makes and traces a model, and then trains."""
    amounts = {"example": examples, "batch": examples / 10, "step": examples / 10}
    return Pace(amounts, steps_ms, 0.0, 0.0, cold=True, parts=pd.Series(dtype=float), duration_ms=steps_ms + once_ms)


def test_making_the_model_hides_most_of_a_gain():
    found = headline([run(1000, 1000)], [run(200, 1000)])
    assert (found.unit, found.medians) == ("capture", (2000, 1200))
    assert found.speedup == pytest.approx(2000 / 1200)
    assert (found.longer.unit, found.longer.speedup) == ("example", pytest.approx(5))


def test_making_the_model_hides_most_of_a_loss():
    found = headline([run(200, 1000)], [run(1000, 1000)])
    assert (found.speedup, found.longer.speedup) == (pytest.approx(0.6), pytest.approx(0.2))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (run(1000, 50), run(200, 50)),  # little is done once
        (run(1000, 3000), run(900, 0)),  # what is done once went away: the first cell warmed the second up
        (run(1000, 1000), run(1000, 5000)),  # the examples take as long
        (run(1000, 1000, examples=100), run(200, 1000, examples=300)),  # they did not do as much
    ],
)
def test_else_the_examples_are_compared(before, after):
    found = headline([before], [after])
    assert (found.unit, found.longer) == ("example", None)
