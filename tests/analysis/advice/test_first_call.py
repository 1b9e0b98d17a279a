"""What a fix costs once counts in short runs only."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tfprof_nb.analysis.advice.findings import with_first_call
from tfprof_nb.analysis.advice.rule import Finding


@pytest.mark.parametrize(("step_ms", "low"), [(10.0, 0.0), (100.0, 40.0)])
def test_a_short_run_may_gain_nothing(step_ms, low):
    """Of 50 steps the fix saves 40% at least: 200 ms or 2 s, and costs 1 s once."""
    steps = pd.DataFrame({"start_ms": step_ms * np.arange(50), "step_ms": step_ms, "warm_up": False, "host": "h"})
    evidence = SimpleNamespace(steps=SimpleNamespace(table=steps))
    finding = Finding("high", "Slow", "It is.", "Trace it.", gain_low_percent=40.0, gain_high_percent=90.0)
    told = with_first_call(evidence, finding, 1000.0)
    assert (told.gain_low_percent, told.gain_high_percent) == (low, 90.0)
    assert ("may gain nothing" in told.fix) == (low == 0)
