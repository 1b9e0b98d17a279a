from functools import partial

from tfprof_nb.analysis.advice.rules.tracing._retracing import retracing_rule, traced_again

RULE = retracing_rule(
    "retracing-by-value",
    "A tf.function is retraced for each Python number",
    "Looks for functions three or more of whose calls trace, for new values of Python.",
    "A Python value is a constant of the graph, so each new value needs a new graph. A tensor is an input. Tracing "
    "takes much longer than running the graph.",
    action="Pass tensors instead of numbers",
)

check = partial(traced_again, rule=RULE.id)
