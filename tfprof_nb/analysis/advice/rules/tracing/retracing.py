from tfprof_nb.analysis.advice import Cases, Earlier, Evidence
from tfprof_nb.analysis.advice.rules.tracing._retracing import retracing_rule, traced_again

RULE = retracing_rule(
    "retracing",
    "A tf.function is traced again and again",
    "Looks for functions three or more of whose calls trace, where these take a fifth of the function's time.",
    "Tracing runs the function's Python and builds a graph, which takes much longer than running the graph.",
    part_of="",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    return traced_again(evidence, earlier, RULE.id)
