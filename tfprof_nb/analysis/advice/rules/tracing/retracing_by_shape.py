from functools import partial

from tfprof_nb.analysis.advice.rules.tracing._retracing import retracing_rule, traced_again

RULE = retracing_rule(
    "retracing-by-shape",
    "A tf.function is retraced for each shape",
    "Looks for functions three or more of whose calls trace, for tensors of new shapes.",
    "A graph is made for tensors of one shape, unless reduce_retracing=True, or an input signature, leaves a "
    "dimension open. Tracing takes much longer than running the graph.",
    action="Let one graph serve all shapes",
)

check = partial(traced_again, rule=RULE.id)
