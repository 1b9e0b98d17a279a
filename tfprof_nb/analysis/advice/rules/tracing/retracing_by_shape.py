from tfprof_nb.analysis.advice import Cases, Earlier, Evidence
from tfprof_nb.analysis.advice.rules.tracing._retracing import retracing_rule, traced_again

RULE = retracing_rule(
    "retracing-by-shape",
    "A tf.function is traced anew for each shape",
    "Looks for functions three and more of whose calls trace, for tensors of new shapes.",
    "A graph is made for tensors of one shape, unless reduce_retracing=True, or an input signature, leaves a "
    "dimension open. To trace takes much longer than to run the graph.",
    action="Let one graph serve all shapes",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    return traced_again(evidence, earlier, RULE.id)
