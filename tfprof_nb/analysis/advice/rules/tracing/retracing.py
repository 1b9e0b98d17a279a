"""A tf.function that is traced again and again, for a reason that no other rule is about."""

from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import Cases, Earlier, Rule
from tfprof_nb.analysis.advice.rules.tracing._retracing import traced_again

RULE = Rule(
    "retracing",
    "A tf.function is traced again and again",
    "Looks for functions three and more of whose calls trace, where these take a fifth of the function's time.",
    "To trace runs the function's Python and builds a graph of it, which takes much longer than to run the graph.",
    page="functions",
    high=15.0,
    saved=(0.75, 1.0),
    after=("xla-recompilation",),
    results="equal",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    """Name the functions that are traced again and again."""
    if not any(earlier.values()):
        yield from traced_again(evidence, RULE.id)
