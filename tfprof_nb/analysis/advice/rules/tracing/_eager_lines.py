"""The line that runs most ops eagerly beside tf.functions."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.rules.tracing._eager import MOSTLY_EAGER_PERCENT, eager_percent, may_be_graph
from tfprof_nb.analysis.python import EAGER_IN, RUNS_GRAPHS
from tfprof_nb.analysis.source.calls import called_object
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.traceable import uses_values

_MIN_PERCENT = 15.0  # of the training
MANY_OPS = 30
_LAYER, _OPS_OF_LAYERS = "Layer.__call__", 0.1  # of a call's time: one that is traced runs none


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
    forbids = uses_values(evidence.code, file, line) or not may_be_graph(evidence, function, place_of(file, line))
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
