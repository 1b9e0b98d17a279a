from functools import partial

from tfprof_nb.analysis.advice.rules.tracing._retracing import retracing_rule, traced_again

RULE = retracing_rule(
    "function-defined-in-loop",
    "A tf.function is redefined for each call",
    "Looks for functions that are defined, or given to tf.function, three times or more, and traced each time.",
    "Each definition is a new function, with no graph yet. Tracing takes much longer than running the graph.",
    action="Define the function once, before the loop",
)

check = partial(traced_again, rule=RULE.id)
