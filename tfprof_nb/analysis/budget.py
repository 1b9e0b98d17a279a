"""Whether a profile keeps within limits."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from tfprof_nb.analysis.functions.functions import Functions
from tfprof_nb.analysis.memory.memory import Memory
from tfprof_nb.analysis.steps.steps import Steps

# Keras traces twice until variables exist, and so does a function that meets a smaller last batch.
_USUAL_TRACINGS = 2


def budget(limits: Mapping[str, float], measured: Mapping[str, float]) -> pd.DataFrame:
    """Compare what was measured with its limits: ``budget limit measured within``.

    What could not be measured (NaN) is not within its limit: a test must not pass because its profile is empty.
    """
    values = [float(measured[name]) for name in limits]
    return pd.DataFrame(
        {
            "budget": list(limits),
            "limit": [float(limit) for limit in limits.values()],
            "measured": values,
            "within": [value <= limit for value, limit in zip(values, limits.values(), strict=True)],
        }
    )


def median_step_ms(steps: Steps) -> float:
    """Return the median measured step; NaN without steps."""
    return float(steps.timed["step_ms"].median())


def peak_bytes(memory: Memory) -> float:
    """Return the highest peak of any allocator; NaN if no memory was recorded."""
    return float(memory.allocators["peak_bytes"].max()) if len(memory.allocators) else math.nan


def retraced(functions: Functions) -> int:
    """Count the calls that traced a function again, from the third tracing since the program began on."""
    table = functions.table
    traced = table[table["mode"].str.startswith("traced")] if len(table) else table
    calls = traced.groupby("function").agg(calls=("calls", "sum"), tracings=("tracings", "max"))
    return int(np.minimum(calls["calls"], (calls["tracings"] - _USUAL_TRACINGS).clip(lower=0)).sum())
