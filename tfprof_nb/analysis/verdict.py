"""The verdict: how far waiting for input bounds the program. All pages, the advice and the digest say this one.

It has the thresholds of the TensorFlow Profiler guide, and a reason where these alone would mislead.
"""

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.formats.marks import SESSION_RUN

Verdict = Literal["not", "potentially", "moderately", "highly", "unknown"]
# Why the input does not bound a program that the guide's thresholds suspect: each fetch is short; steps wait at the
# start of a pass only; the other time is Python's, as all data is fetched in the steps or Python was sampled; it is
# little.
Reason = Literal["", "short_fetches", "only_at_starts", "python", "little_other_time"]

# Shares of step time (`op_stats_to_overview_page.cc`).
HIGHLY_PERCENT, MODERATELY_PERCENT, POTENTIALLY_OTHER_PERCENT = 20.0, 5.0, 3.0
_MUCH_OTHER_PERCENT = 10.0
# To fetch a batch costs about this much, whatever is in it.
FETCH_COSTS_MS = 0.5
# A pass over the data begins with a long wait: so much longer than the median, in so few of the steps.
_LONG_WAIT, _RARE_SHARE = 10.0, 0.15
# This share of all waiting is most of it.
MOST_WAITING = 0.5


class InputVerdict(NamedTuple):
    """How far waiting for input bounds the measured steps, and why this differs from the guide's thresholds."""

    verdict: Verdict
    reason: Reason
    by_guide: Verdict


def input_verdict(
    steps: Steps, *, python_sampled: bool = False, on_tpu: bool = False, elsewhere: bool = False
) -> InputVerdict:
    """Decide how far waiting for input bounds the measured steps.

    It is unknown for the runs of a TensorFlow 1 session: a trace of `session.run` does not include the waiting before.
    So it is where JAX or PyTorch run the model (``elsewhere``), unless steps wait for tf.data, and where ops were
    recorded of no step.
    """
    shares = steps.shares
    unrecorded = len(steps.measured) > 0 and not steps.measured["ops_recorded"].any()
    unseen = are_session_runs(steps) or ((elsewhere or unrecorded) and shares["input_ms"] < MODERATELY_PERCENT)
    by_guide = "unknown" if unseen else classify_input(shares["input_ms"], shares["other_ms"])
    reason: Reason = ""
    if by_guide == "moderately" and steps.summary["input_ms_mean"] < FETCH_COSTS_MS:
        reason = "short_fetches"
    elif by_guide in ("moderately", "highly") and waits_only_at_starts(steps):
        reason = "only_at_starts"
    elif by_guide == "potentially" and shares["other_ms"] < _MUCH_OTHER_PERCENT:
        reason = "little_other_time"
    elif by_guide == "potentially" and not on_tpu and (python_sampled or _fetches_in_steps(steps)):
        reason = "python"
    return InputVerdict("not" if reason else by_guide, reason, by_guide)


def _fetches_in_steps(steps: Steps) -> bool:
    """Whether every measured step fetched data, so that none of its other time can be waiting for data."""
    return bool((steps.recorded["input_ms"] > 0).all()) and len(steps.recorded) > 0


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


def rare_waits(waits_ms: pd.Series) -> pd.Series:
    """Return per step whether it is one of few that wait much longer than the median step.

    Examples
    --------
    >>> rare_waits(pd.Series([80.0, *[0.2] * 9])).sum(), rare_waits(pd.Series([80.0] * 10)).sum()
    (np.int64(1), np.int64(0))
    """
    long = waits_ms >= _LONG_WAIT * max(float(waits_ms.median()), FETCH_COSTS_MS)
    return long & (long.sum() <= _RARE_SHARE * len(waits_ms))


def waits_only_at_starts(steps: Steps) -> bool:
    """Whether the measured steps hardly wait but for few, which start a pass over the data."""
    waits_ms, step_ms = steps.measured["input_ms"], steps.measured["step_ms"]
    waited_ms = float(waits_ms.sum())
    if not waited_ms > 0:
        return False
    others = ~rare_waits(waits_ms)
    others_ms = float(waits_ms[others].sum())
    first = float(waits_ms.iloc[0]) > MOST_WAITING * waited_ms
    return (
        others_ms < (1 - MOST_WAITING) * waited_ms
        and 100 * others_ms < MODERATELY_PERCENT * float(step_ms[others].sum())
        and (first or 100 * waited_ms < HIGHLY_PERCENT * float(step_ms.sum()))
    )
