"""A tf.function that is traced anew for each shape."""

from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import Cases, Earlier, Rule
from tfprof_nb.analysis.advice.rules.tracing._retracing import traced_again

RULE = Rule(
    "retracing-by-shape",
    "A tf.function is traced anew for each shape",
    "Looks for functions three and more of whose calls trace, for tensors of new shapes.",
    "A graph is made for tensors of one shape, unless reduce_retracing=True, or an input signature, leaves a "
    "dimension open. To trace takes much longer than to run the graph.",
    action="Let one graph serve all shapes",
    page="functions",
    high=15.0,
    saved=(0.75, 1.0),
    part_of="retracing",
    after=("xla-recompilation",),
    results="equal",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    """Name the functions that are traced again and again for new shapes."""
    if not any(earlier.values()):
        yield from traced_again(evidence, RULE.id)
