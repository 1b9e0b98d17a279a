"""What rules on eager ops share."""

from tfprof_nb.analysis.advice.evidence import Evidence
from tfprof_nb.analysis.advice.rule import TRACING_MS
from tfprof_nb.analysis.advice.wording import quoted
from tfprof_nb.analysis.source.code import Code, line_at
from tfprof_nb.analysis.source.traceable import draws, gets_numbers, has_effects, makes_objects

MOSTLY_EAGER_PERCENT = 50.0
FETCHING_OPS = "Iterator|Optional|Dataset"  # Keras fetches its data with these, always eagerly
SAVED = 0.6  # of the time between ops, at least
TRACED_MODEL = (
    "Call a traced form of it: `traced = tf.function({0})` before the loop, and `traced(...)` in place of `{0}(...)`. "
    "Its ops then run as one graph."
)
INTO_A_FUNCTION = "Put these ops into a function with @tf.function, or into the one that the loop calls already."
ONCE = "would run once, when the function is traced, and give the same numbers in every call"
_AS_TENSORS = (
    " Give it tensors, such as `tf.constant(i)`, in place of the numbers and texts of Python that change from call to "
    "call: it is retraced for each."
)
OF_LAYERS = (".call", ".__call__")  # methods that Keras calls, in the graph of whoever calls the layer
_EAGER_PERCENT = 10.0
_GRAPH = 0.1  # of the time between ops: what starting them in a graph takes


def least_saved(between_ms: float, least: float = SAVED) -> float:
    """Return the least part of the time between ops that a graph saves: the longer that is, the less tracing matters.

    Examples
    --------
    >>> round(least_saved(500.0), 2), round(least_saved(10_000.0), 2)
    (0.6, 0.8)
    """
    return max(least, 1 - _GRAPH - TRACING_MS / max(between_ms, 1.0))


def runs_eagerly(evidence: Evidence) -> bool:
    """Whether much of the time of ops is in ones that run eagerly, again and again, in the program's own code."""
    by_keras = bool(evidence.steps.table["epoch"].notna().any())
    if min(evidence.percent("eager"), eager_percent(evidence)) <= _EAGER_PERCENT:
        return False
    return not (runs_functions(evidence) and by_keras)  # what is eager then is Keras' own work, such as saving


def runs_functions(evidence: Evidence) -> bool:
    """Whether tf.functions are called at least once per step, other than those that trace."""
    calls = evidence.functions.table
    return bool(calls.loc[calls["mode"] != "eager", "calls"].sum() >= max(evidence.steps.summary["steps"], 1))


def eager_percent(evidence: Evidence) -> float:
    """Return the share of the hosts' op time, in percent, of ops that run eagerly in each step."""
    ops = evidence.ops.table
    ops = ops[(ops["side"] == "host") & ~ops["op_type"].str.contains(FETCHING_OPS)]
    repeated = ops["eager"].astype(bool) & (ops["occurrences"] >= max(evidence.steps.summary["steps"], 1))
    return float(100 * ops.loc[repeated, "self_us"].sum() / (ops["self_us"].sum() or 1))


def may_be_graph(evidence: Evidence, function: str, place: str) -> bool:
    """Whether a function can be decorated as it stands: it does nothing that a graph would do once, or cannot do."""
    at = line_at(place)
    defined = evidence.code.function_at(*at)
    of_layer = defined is not None and f".{defined.name}" in OF_LAYERS and evidence.code.class_at(*at) != ""
    decorated = evidence.code.line(at[0], at[1] - 1).startswith("@")
    unfit = (
        has_effects(evidence.code, *at) or makes_objects(evidence.code, *at) or gets_numbers(evidence.code, function)
    )
    return not (decorated or unfit or of_layer)


def decorated(code: Code, function: str, change: str) -> str:
    """Say what to put into a tf.function."""
    if not function:
        return "Move the body of the loop into a function, and put @tf.function above it."
    before = f"{quoted(change.splitlines()[1])}" if change else function
    return (
        f"Put @tf.function above {before}. Its ops then run as one graph; Python code in it, such as print or "
        f".numpy(), runs only when it is traced.{_AS_TENSORS * gets_numbers(code, function)}"
    )


def split(function: str, needs: str) -> str:
    """Say what to put into a tf.function where a function cannot be one: it has effects, or code that needs values."""
    into = f"Put what {function} computes with tensors into a function of its own with @tf.function"
    if draws(needs):
        return f"{into}, and pass it the random numbers, or draw them with tf.random: `{needs}` {ONCE}."
    why = f": `{needs}` needs values, which do not exist while a function is traced" if needs else ""
    return (
        f"{into}, and leave the rest outside{why}. Where a model is only called, `model = tf.function(model)` does it."
    )
