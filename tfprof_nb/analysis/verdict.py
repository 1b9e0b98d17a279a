"""The verdict: how far waiting for input bounds the program, by the thresholds of the TensorFlow Profiler guide."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.formats.marks import SESSION_RUN

Verdict = Literal["not", "potentially", "moderately", "highly", "unknown"]

# Shares of step time (`op_stats_to_overview_page.cc`).
HIGHLY_PERCENT, MODERATELY_PERCENT, POTENTIALLY_OTHER_PERCENT = 20.0, 5.0, 3.0
# To fetch a batch costs about this much, whatever is in it.
FETCH_COSTS_MS = 0.5


def input_verdict(steps: Steps) -> Verdict:
    """Classify how far waiting for input bounds the measured steps.

    It is unknown for the runs of a TensorFlow 1 session: a trace of `session.run` does not include the waiting before.
    """
    shares = steps.shares
    return "unknown" if are_session_runs(steps) else classify_input(shares["input_ms"], shares["other_ms"])


def are_session_runs(steps: Steps) -> bool:
    """Whether the steps are runs of a session: what happens between these is unknown."""
    return bool((steps.measured["phase"] == SESSION_RUN).all())


def classify_input(input_percent: float, other_percent: float) -> Verdict:
    """Classify how far waiting for input bounds the program.

    Examples
    --------
    >>> classify_input(20.0, 0.0), classify_input(4.99, 3.0), classify_input(4.99, 2.99)
    ('highly', 'potentially', 'not')
    """
    if np.isnan(input_percent):
        return "unknown"
    if input_percent >= HIGHLY_PERCENT:
        return "highly"
    if input_percent >= MODERATELY_PERCENT:
        return "moderately"
    return "potentially" if other_percent >= POTENTIALLY_OTHER_PERCENT else "not"
