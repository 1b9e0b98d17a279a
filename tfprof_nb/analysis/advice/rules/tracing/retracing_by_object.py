from functools import partial

from tfprof_nb.analysis.advice.rules.tracing._retracing import retracing_rule, traced_again

RULE = retracing_rule(
    "retracing-by-object",
    "A tf.function is retraced for each object",
    "Looks for functions three or more of whose calls trace, for other objects of Python.",
    "An object of Python, such as a lambda, is a constant of the graph: each new one needs a new graph. Tracing takes "
    "much longer than running the graph.",
)

check = partial(traced_again, rule=RULE.id)
