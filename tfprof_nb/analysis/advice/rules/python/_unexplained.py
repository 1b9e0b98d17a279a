"""Time in the steps that is outside of ops and that no rule on Python explains."""

from tfprof_nb.analysis.advice import Earlier, Evidence
from tfprof_nb.analysis.advice.rules.tracing._eager import MOSTLY_EAGER_PERCENT, eager_percent, runs_functions
from tfprof_nb.analysis.verdict import are_session_runs

# Below the first share, time outside of ops is normal.
UNEXPLAINED_PERCENT, HIGH_UNEXPLAINED_PERCENT = 10.0, 25.0
_SHORT_STEP_MS = 20.0  # in steps as short as this, it is the fixed cost of a step
JOINED = "Set steps_per_execution=10 in model.compile: Keras then starts ten steps at once."
LOOK = "Look at the gaps in the trace. To see which lines run there, profile with %%tfprofile."


def is_unexplained(evidence: Evidence, earlier: Earlier) -> bool:
    """Whether nothing else tells what runs outside of ops.

    Within a session's run no Python runs, and the hosts of TPUs record little.
    """
    mostly_eager = eager_percent(evidence) >= MOSTLY_EAGER_PERCENT and not runs_functions(evidence)
    on_tpu = str(evidence.overview.summary["device_type"]).startswith("TPU")
    return not (any(earlier.values()) or on_tpu or mostly_eager or are_session_runs(evidence.steps))


def can_be_joined(evidence: Evidence) -> bool:
    """Whether Keras runs steps that are short enough to be started several at once."""
    by_keras = bool(evidence.steps.table["epoch"].notna().any())
    return by_keras and float(evidence.steps.measured["step_ms"].median()) <= _SHORT_STEP_MS
