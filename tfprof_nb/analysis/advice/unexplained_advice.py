"""What to change about time in the steps that is outside of ops and that no finding on Python explains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfprof_nb.analysis.advice.eager_advice import MOSTLY_EAGER_PERCENT, eager_percent, runs_functions
from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.findings import Finding, severity_of
from tfprof_nb.analysis.advice.rule import Rule
from tfprof_nb.analysis.verdict import are_session_runs

# Below the first share, time outside of ops is normal; in steps as short as this, it is the fixed cost of a step.
_UNEXPLAINED_PERCENT, HIGH_UNEXPLAINED_PERCENT, _SHORT_STEP_MS = 10.0, 25.0, 20.0
_LEAST_JOINED = 0.3  # of the time between ops: each step still runs some Python of its own

BETWEEN_OPS = Rule(
    "python-between-ops",
    "Python between ops takes time",
    "Looks for short steps of Keras much of which is outside of ops, where no line of the program's explains it.",
    "Keras and TensorFlow run some Python in each step. Several steps that start at once run it once.",
    group="python",
    page="python",
    moderate=_UNEXPLAINED_PERCENT,
    high=HIGH_UNEXPLAINED_PERCENT,
    saved=(_LEAST_JOINED, 1.0),
    after=("slow-callback", "predict-in-callback", "sync-each-step", "python-in-loop", "python-outside-steps"),
)
UNRECORDED = Rule(
    "unrecorded-step-time",
    "Much of each step is not recorded",
    "Looks for steps much of which is outside of ops, in profiles without samples of Python.",
    "Something runs there that the capture did not record.",
    group="python",
    moderate=_UNEXPLAINED_PERCENT,
)


def unexplained_findings(evidence: Evidence, python: Sequence[Finding]) -> Iterator[Finding]:
    """Report time outside of ops that no finding on Python explains, if steps are short enough to be joined.

    Within a session's run no Python runs, and without Keras' epochs nothing tells what kind of program it is.
    """
    percent = evidence.percent("other")
    by_keras = bool(evidence.steps.table["epoch"].notna().any())
    mostly_eager = eager_percent(evidence) >= MOSTLY_EAGER_PERCENT and not runs_functions(evidence)
    on_tpu = str(evidence.overview.summary["device_type"]).startswith("TPU")  # whose hosts record little
    if (
        python
        or not evidence.is_tensorflows
        or on_tpu
        or percent < _UNEXPLAINED_PERCENT
        or mostly_eager
        or are_session_runs(evidence.steps)
    ):
        return
    short = float(evidence.steps.measured["step_ms"].median()) <= _SHORT_STEP_MS
    sampled = len(evidence.python.table) > 0
    if sampled and not (short and by_keras):
        return
    spent = "in Python code of Keras and TensorFlow" if sampled else "where TensorFlow records nothing"
    joined = short and by_keras
    severity = severity_of(percent, _UNEXPLAINED_PERCENT, HIGH_UNEXPLAINED_PERCENT)
    yield Finding(
        severity if sampled else "medium",
        BETWEEN_OPS.title if sampled else UNRECORDED.title,
        f"{evidence.of_step('other_ms')} is spent {spent}.",
        "Set steps_per_execution=10 in model.compile: Keras then starts ten steps at once."
        if joined
        else "Look at the gaps in the trace. To see which lines run there, profile with %%tfprofile.",
        percent,
        proved_by="python" if sampled else "steps",
        gain_low_percent=_LEAST_JOINED * percent if joined else float("nan"),
        gain_high_percent=percent if joined else float("nan"),
        rule=BETWEEN_OPS.id if sampled else UNRECORDED.id,
    )
