"""A tf.function that is defined anew for each call."""

from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import Cases, Earlier, Rule
from tfprof_nb.analysis.advice.rules.tracing._retracing import traced_again

RULE = Rule(
    "function-defined-in-loop",
    "A tf.function is defined anew for each call",
    "Looks for functions that are defined, or given to tf.function, three times and more, and traced each time.",
    "Each definition is a new function, with no graph yet. To trace takes much longer than to run the graph.",
    action="Define the function once, before the loop",
    page="functions",
    high=15.0,
    saved=(0.75, 1.0),
    part_of="retracing",
    after=("xla-recompilation",),
    results="equal",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    """Name the functions that are traced again and again since they are defined anew."""
    if not any(earlier.values()):
        yield from traced_again(evidence, RULE.id)
