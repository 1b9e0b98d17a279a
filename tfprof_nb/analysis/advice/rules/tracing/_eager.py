"""What rules on eager ops share: what may be a graph, and the line that runs most ops eagerly beside tf.functions."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.findings import quoted
from tfprof_nb.analysis.advice.rule import TRACING_MS
from tfprof_nb.analysis.python import EAGER_IN, RUNS_GRAPHS
from tfprof_nb.analysis.source.calls import called_object
from tfprof_nb.analysis.source.code import Code, line_at, place_of
from tfprof_nb.analysis.source.traceable import Untraceable, gets_numbers, has_effects, makes_objects, untraceable

MOSTLY_EAGER_PERCENT = 50.0
FETCHING_OPS = "Iterator|Optional|Dataset"  # Keras fetches its data with these, always eagerly
SAVED = 0.6  # of the time between ops, at least
TRACED_MODEL = (
    "Call a traced form of it: `traced = tf.function({0})` before the loop, and `traced(...)` in place of `{0}(...)`. "
    "Its ops then run as one graph."
)
INTO_A_FUNCTION = "Put these ops into a function with @tf.function, or into the one that the loop calls already."
_AS_TENSORS = (
    " Give it tensors, such as `tf.constant(i)`, in place of the numbers and texts of Python that change from call to "
    "call: it is retraced for each."
)
OF_LAYERS = (".call", ".__call__")  # methods that Keras calls, in the graph of whoever calls the layer
_EAGER_PERCENT = 10.0
_GRAPH = 0.1  # of the time between ops: what starting them in a graph takes
_MIN_PERCENT = 15.0  # of the training
MANY_OPS = 30
_LAYER, _OPS_OF_LAYERS = "Layer.__call__", 0.1  # of a call's time: one that is traced runs none


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
    unfit = cannot_be_graph(evidence.code, *at) or gets_numbers(evidence.code, function)
    return not (decorated or unfit or of_layer)


def cannot_be_graph(code: Code, file: str, line: int) -> bool:
    """Whether a function does what a graph would do once, or cannot do."""
    return has_effects(code, file, line) or makes_objects(code, file, line)


def decorated(code: Code, function: str, change: str) -> str:
    """Say what to put into a tf.function."""
    if not function:
        return "Move the body of the loop into a function, and put @tf.function above it."
    before = f"{quoted(change.splitlines()[1])}" if change else function
    return (
        f"Put @tf.function above {before}. Its ops then run as one graph; Python code in it, such as print or "
        f".numpy(), runs only when it is traced.{_AS_TENSORS * gets_numbers(code, function)}"
    )


def split(function: str, found: Untraceable | None) -> str:
    """Say what to put into a tf.function where a function cannot be one: it has effects, or untraceable code."""
    into = f"Put what {function} computes with tensors into a function of its own with @tf.function"
    why = f": {found}" if found else ""
    if found and found.why == "draws":
        return f"{into}, and pass it the random numbers, or draw them with tf.random{why}."
    if found and found.why == "number":
        return f"{into}. There, {found}: write `1.0` for floats, or `tf.cast(1, x.dtype)`."
    return (
        f"{into}, and leave the rest outside{why}. Where a model is only called, `model = tf.function(model)` does it."
    )


class EagerLine(NamedTuple):
    """A line: its function, the line of that function's ``def`` if it may be a graph (else 0), and its calls.

    ``percent`` is the share of the training of the line, or of the function, whose calls they then are.
    """

    file: str
    line: int
    function: str
    definition: int
    percent: float
    calls: pd.DataFrame
    of_line: pd.DataFrame


def costliest_line(evidence: Evidence) -> EagerLine | None:
    """Return the line that runs most ops eagerly; None if that takes little of the training."""
    calls, whole_ms = _eager_calls(evidence, eager_percent(evidence)), training_ms(evidence)
    lines = calls.groupby(["file", "line"])["eager_ms"].sum().sort_values(ascending=False, kind="stable")
    if lines.empty or whole_ms <= 0 or 100 * lines.iloc[0] < _MIN_PERCENT * whole_ms:
        return None
    file, line = lines.index[0]
    of_line = calls[(calls["file"] == file) & (calls["line"] == line)]
    function = str(of_line["function"].iloc[0])
    definition = traceable(evidence, file, function)
    own = calls[(calls["function"] == function) & (calls["file"] == file)] if definition else of_line
    percent = min(100.0, 100 * float(own["eager_ms"].sum()) / whole_ms)
    return EagerLine(str(file), int(line), function, definition, percent, own, of_line)


def _eager_calls(evidence: Evidence, percent: float) -> pd.DataFrame:
    """Return what lines of the main thread called, with the time of its eager ops and of the Python that starts them.

    Where many ops are known to run at a line, or it calls a layer of Keras that runs them, the Python between them
    belongs to them; else only the ops count, and only if most ops are eager. Graphs that a line runs, such as the
    gradient of a tf.function, are not eager.
    """
    calls, counted = evidence.python.calls, _ops_per_step(evidence)
    calls = calls[(calls["thread"] == "main") & (calls["line"] > 0) & ~calls["call"].str.contains(RUNS_GRAPHS)]
    table = evidence.python.table
    callers = dict(zip(zip(table["file"], table["line"], strict=True), table["called_from"], strict=True))
    ops = [
        max(counted.get(place, 0.0), counted.get(line_at(str(callers.get(place, ""))), 0.0))
        for place in zip(calls["file"], calls["line"], strict=True)
    ]
    with_python = calls["in_steps_ms"] + calls["between_steps_ms"]
    few = calls["ops_ms"] if percent >= MOSTLY_EAGER_PERCENT else 0.0
    many = (np.array(ops, dtype=np.float64) >= MANY_OPS) & calls["library"].isin(EAGER_IN)
    layers = (calls["call"] == _LAYER) & (calls["ops_ms"] > _OPS_OF_LAYERS * with_python)
    whole = with_python.where(many | layers, few)
    return calls.assign(ops_per_step=ops, eager_ms=(whole - calls["graphs_ms"]).clip(lower=0.0))


def _ops_per_step(evidence: Evidence) -> dict[tuple[str, int], float]:
    """Return how many ops, outside of layers and their gradients, each line runs in a step, by file and line."""
    counts = eager_ops(evidence).groupby(["file", "line"], as_index=False)["occurrences"].sum()
    steps = max(len(evidence.steps.table), 1)
    rows = zip(counts["file"], counts["line"], counts["occurrences"], strict=True)
    return {(str(file), int(line)): count / steps for file, line, count in rows}


def traceable(evidence: Evidence, file: str, function: str) -> int:
    """Return the line of the ``def`` of a function whose body can be a graph; 0 if it must run as it is."""
    line = evidence.code.definition(file, function) if function != "<module>" else 0
    forbids = untraceable(evidence.code, file, line) or not may_be_graph(evidence, function, place_of(file, line))
    return line if line and not forbids else 0


def eager_ops(evidence: Evidence) -> pd.DataFrame:
    """Return the ops of lines that are outside of layers and their gradients."""
    ops = evidence.source().all_ops
    return ops[(ops["layer"] == "") & (ops["phase"] == "") & ~ops["gradient"].astype(bool)]


def called_layer(evidence: Evidence, calls: pd.DataFrame) -> str:
    """Return the model or layer of Keras that takes most of the time of a line's calls; empty if its name is unsure."""
    by_call = calls.groupby("call")["eager_ms"].sum()
    mostly = by_call.get(_LAYER, 0.0) > MOSTLY_EAGER_PERCENT / 100 * by_call.sum()
    return called_object(evidence.code, str(calls["file"].iloc[0]), int(calls["line"].iloc[0])) if mostly else ""
