"""One program, run several times: how far its runs differ."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tfprof_nb.analysis.compare.headline import CAPTURE, headline
from tfprof_nb.analysis.compare.measured import Measured
from tfprof_nb.analysis.result import Result


class Repeated(Result):
    """The runs of one program; ``table`` has a row per run: ``name time_ms step_ms other_load_percent``."""


def repeats(runs: Sequence[Measured]) -> Repeated:
    """Put the runs of one program side by side.

    ``time_ms`` is the time that comparisons use, such as that of an example; ``summary`` says which in ``time_of``,
    with ``runs``, ``time_ms`` (the median), ``time_ms_min``, ``time_ms_max`` and ``range_percent``: by how much the
    slowest run is slower than the fastest.
    """
    paces = [run.pace for run in runs]
    found = headline(paces, paces)
    times = found.before
    table = pd.DataFrame(
        {
            "name": [run.name for run in runs],
            "time_ms": times,
            "step_ms": [run.steps.timed["step_ms"].median() for run in runs],
            "other_load_percent": [100 * run.other_load for run in runs],
        },
        index=pd.RangeIndex(1, len(runs) + 1, name="run"),
    )
    low, high = float(times.min()), float(times.max())
    summary = {
        "runs": len(runs),
        "time_of": CAPTURE if found.unit == CAPTURE else found.unit,
        "time_ms": float(np.median(times)),
        "time_ms_min": low,
        "time_ms_max": high,
        "range_percent": 100 * (high / low - 1) if low > 0 else float("nan"),
    }
    return Repeated(table, summary)
