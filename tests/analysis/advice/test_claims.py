"""How much of the cell a finding is about, by the part of the cell's time that it explains."""

from types import SimpleNamespace

import pandas as pd
import pytest

from tfprof_nb.analysis.advice.claims import claimed
from tfprof_nb.analysis.advice.findings import at_most
from tfprof_nb.analysis.advice.rule import Finding


def claim(share, gain_of="cell", warm_up_ms=0.0, **gains):
    """Return a finding on the types of a layer, in a cell of 100 ms of which that takes a share."""
    rows = [
        ("cell", "", "other", 1.0),
        ("cell/train", "cell", "phase", 1.0),
        ("cell/train/l", "cell/train", "layer", share),
    ]
    tree = pd.DataFrame(rows, columns=["id", "parent", "kind", "share"]).assign(name="", place="")
    tree["total_ms"] = 100 * tree["share"]
    steps = pd.DataFrame({"host": "h", "start_ms": [warm_up_ms], "step_ms": [100 - warm_up_ms], "warm_up": [False]})
    times = {"capture_ms": 100.0, "warm_up_steps_ms": warm_up_ms, "measured_steps_ms": 100 - warm_up_ms}
    evidence = SimpleNamespace(
        breakdown=lambda: SimpleNamespace(table=tree),
        overview=SimpleNamespace(summary=times),
        steps=SimpleNamespace(table=steps),
    )
    finding = Finding(
        **{"rule": "float64", "gain_of": gain_of} | gains, severity="high", finding="", evidence="", fix=""
    )
    (found,) = claimed([finding], evidence)
    return found


GAINS = {"estimated_gain_percent": 60.0, "gain_low_percent": 40.0, "gain_high_percent": 55.0}


def test_no_more_is_saved_than_the_node_takes():
    found = claim(0.2, **GAINS)
    assert (found.node, found.cell_percent) == ("cell/train/l", pytest.approx(20))
    assert found.estimated_gain_percent == pytest.approx(20)
    assert (found.gain_low_percent, found.gain_high_percent) == pytest.approx((at_most(20), at_most(20)))


def test_gains_within_what_the_node_takes_stay():
    found = claim(0.9, **GAINS)
    assert found.cell_percent == pytest.approx(60)
    assert (found.gain_low_percent, found.gain_high_percent) == (40, 55)


@pytest.mark.parametrize("rule", ["float64", "late-retracing"])
def test_without_a_gain_it_is_about_its_own_share(rule):
    found = claim(0.9, percent=6.0, rule=rule)
    assert (found.cell_percent, found.severity) == (pytest.approx(6), "medium")


def test_steps_are_a_share_of_the_cell_without_those_that_trace():
    assert claim(0.9, "steps", warm_up_ms=50.0, **GAINS).cell_percent == pytest.approx(60)


@pytest.mark.parametrize(("share", "severity"), [(0.9, "high"), (0.1, "medium"), (0.02, "info")])
def test_what_is_about_little_of_the_cell_is_not_severe(share, severity):
    assert claim(share, **GAINS).severity == severity
