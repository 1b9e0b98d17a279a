from functools import partial

from tfprof_nb.analysis.advice.rules.tracing._retracing import retracing_rule, traced_again

RULE = retracing_rule(
    "retracing",
    "A tf.function is traced again and again",
    "Looks for functions three or more of whose calls trace, where these take a fifth of the function's time.",
    "Tracing runs the function's Python and builds a graph, which takes much longer than running the graph.",
    part_of="",
)

check = partial(traced_again, rule=RULE.id)
