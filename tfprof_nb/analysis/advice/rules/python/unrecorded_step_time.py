from tfprof_nb.analysis.advice import UNKNOWN, Case, Cases, Earlier, Evidence, Rule
from tfprof_nb.analysis.advice.rules.python._time import NAMED
from tfprof_nb.analysis.advice.rules.python._unexplained import (
    JOINED,
    LOOK,
    UNEXPLAINED_PERCENT,
    can_be_joined,
    is_unexplained,
)

RULE = Rule(
    "unrecorded-step-time",
    "Much of each step is not recorded",
    "Looks for steps much of which is outside of ops, in profiles without samples of Python.",
    "Something runs there that the capture did not record.",
    page="trace",
    after=NAMED,
    saved=UNKNOWN,
    moderate=UNEXPLAINED_PERCENT,
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    if len(evidence.python.table) or not is_unexplained(evidence, earlier):
        return
    percent, joined = evidence.percent("other"), can_be_joined(evidence)
    yield Case(
        percent,
        "Much of each step is not recorded",
        f"{evidence.of_step('other_ms')} is spent where TensorFlow records nothing.",
        JOINED if joined else LOOK,
        severity="medium",
        saved=(0.3, 1.0) if joined else None,
    )
