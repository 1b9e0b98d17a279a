"""Python of Keras and TensorFlow between the ops of short steps."""

from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import Case, Cases, Earlier, Rule
from tfprof_nb.analysis.advice.rules.python._time import NAMED
from tfprof_nb.analysis.advice.rules.python._unexplained import (
    HIGH_UNEXPLAINED_PERCENT,
    JOINED,
    UNEXPLAINED_PERCENT,
    can_be_joined,
    is_unexplained,
)

RULE = Rule(
    "python-between-ops",
    "Python between ops takes time",
    "Looks for short steps of Keras much of which is outside of ops, where no line of the program's explains it.",
    "Keras and TensorFlow run some Python in each step. Several steps that start at once run it once.",
    page="python",
    moderate=UNEXPLAINED_PERCENT,
    high=HIGH_UNEXPLAINED_PERCENT,
    saved=(0.3, 1.0),  # each step still runs some Python of its own
    after=NAMED,
    of_tensorflows_steps=True,
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    """Report time outside of ops that no line of the program's explains, in steps that can be joined."""
    if len(evidence.python.table) and can_be_joined(evidence) and is_unexplained(evidence, earlier):
        yield Case(
            evidence.percent("other"),
            "Python between ops takes time",
            f"{evidence.of_step('other_ms')} is spent in Python code of Keras and TensorFlow.",
            JOINED,
        )
