import ast
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Case, Cases, Earlier, Evidence, Rule, in_code, training_ms
from tfprof_nb.analysis.advice.rules.python._time import FEWER_SAVED, HIGH_PERCENT, MIN_SAMPLES, WORTH_SAYING_PERCENT
from tfprof_nb.analysis.source.code import Code, line_at, place_of
from tfprof_nb.analysis.source.syntax import first_given, holds, name_of
from tfprof_nb.analysis.source.traceable import has_effects, untraceable

_CALLING = ("py_function", "numpy_function", "py_func")
_LAMBDA = "<lambda>"
_MOSTLY = 0.8
_IN_GRAPH = (
    "Write {0} with TensorFlow's ops, which are part of the graph; or, if it needs nothing but the batch, call it in "
    "the dataset's .map(), before .prefetch(): there it runs while the step before does, if a core is free."
)
_ITSELF = "{0} needs no Python: call {0} itself, without {1}. Its ops are then part of the graph."
_WHOLE_ARRAYS = "On whole arrays, NumPy takes a fraction of the time of its loop in Python. "

RULE = Rule(
    "python-in-graph",
    "The graph calls a function in Python",
    "Looks for functions that the steps call by `tf.py_function` or `tf.numpy_function`, such as a loss in NumPy.",
    "Python runs one such call at a time, and the ops that need its result wait.",
    action="Use TensorFlow's ops instead of Python",
    page="python",
    moderate=WORTH_SAYING_PERCENT,
    high=HIGH_PERCENT,
    of="training",
    saved=(FEWER_SAVED, None),
)


@dataclass(frozen=True)
class _Given:
    """A function that the program gives to graphs; ``line`` is that of its ``def``, 0 if it is unknown."""

    name: str
    call: ast.Call
    place: str
    file: str
    line: int
    node: ast.FunctionDef | None

    def has(self, row: dict[Hashable, Any]) -> bool:
        """Whether a line of Python is one of the function's, or of what that calls."""
        lines = (row["file"], row["line"]), line_at(row["called_from"])
        within = self.node is not None and any(file == self.file and holds(self.node, line) for file, line in lines)
        return within or str(row["function"]).rpartition(".")[2] == self.name


def check(evidence: Evidence, _earlier: Earlier) -> Cases:
    table, whole_ms = evidence.python.table, training_ms(evidence)
    table = table[(table["thread"] == "graph") & (table["line"] > 0)]
    given = list(_given(evidence.code))
    for one in given if len(table) else ():
        rows = table if len(given) == 1 else table[[one.has(row) for row in table.to_dict("records")]]
        percent = min(100.0, 100 * float(rows["self_ms"].sum()) / whole_ms) if whole_ms else 0.0
        if percent >= RULE.moderate and rows["samples"].sum() >= MIN_SAMPLES:
            yield _case(evidence, one, rows, percent)


def _given(code: Code) -> Iterator[_Given]:
    """Return the functions that the program gives to graphs."""
    for file in code.files:
        for call in (node for node in code.nodes(file, ast.Call) if name_of(node.func) in _CALLING):
            function = first_given(call)
            name = _LAMBDA if isinstance(function, ast.Lambda) else name_of(function) if function else ""
            at, node = (code.defined(file, function) if function else None) or ("", None)
            if name:
                yield _Given(name, call, place_of(file, call.lineno), at, node.lineno if node else 0, node)


def _case(evidence: Evidence, given: _Given, rows: pd.DataFrame, percent: float) -> Case:
    slowest = rows.nlargest(1, "self_ms").iloc[0]
    at = str(slowest["file"]), int(slowest["line"])
    name = "a lambda" if given.name == _LAMBDA else given.name
    by = ast.unparse(given.call.func)
    if _runs_only_ops(evidence, given, rows):
        fix = _ITSELF.format(name, by)
    else:
        loops = given.node is not None and any(isinstance(node, ast.For) for node in ast.walk(given.node))
        fix = _WHOLE_ARRAYS * loops + _IN_GRAPH.format(name)
    time_ms = float(rows["self_ms"].sum()) / max(len(evidence.steps.table), 1)
    return Case(
        percent,
        finding=f"The graph calls {name}, in Python: {evidence.of_training(percent)}",
        evidence=f"{in_code(given.place, evidence.code.at(given.place))} calls it: {_units.milliseconds(time_ms)} "
        "per step. Python runs one such call at a time, and the ops that need its result wait. Most of that is in "
        f"{in_code(place_of(*at), evidence.code.line(*at))}.",
        fix=fix,
        place=given.place,
        subject=given.name,
    )


def _runs_only_ops(evidence: Evidence, given: _Given, rows: pd.DataFrame) -> bool:
    """Whether a function could be traced, and spends its time in TensorFlow's ops."""
    traceable = given.node and not (
        untraceable(evidence.code, given.file, given.line) or has_effects(evidence.code, given.file, given.line)
    )
    of_ops = rows.loc[rows["library"] == "TensorFlow", "self_ms"].sum()
    return bool(traceable and of_ops > _MOSTLY * rows["self_ms"].sum()) and name_of(given.call.func) == "py_function"
