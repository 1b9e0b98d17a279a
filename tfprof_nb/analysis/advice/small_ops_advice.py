"""What to change about functions that make many small ops."""

from __future__ import annotations

import ast
import re

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.findings import BETWEEN_OPS, ONE_OP, SMALL_STEPS, Evidence, Finding, severity_of
from tfprof_nb.analysis.source.syntax import parsed
from tfprof_nb.analysis.step_ops.small_ops import small_ops
from tfprof_nb.analysis.step_ops.step_ops import StepOps

_MIN_COUNT = 100
_WORTH_SAYING_PERCENT, _HIGH_PERCENT = 20.0, 30.0
# What is left are the few ops that do all at once.
_LEAST_SAVED = 0.4
# What tf.map_fn is told, and tf.vectorized_map finds out.
_INFERRED = {"fn_output_signature", "dtype", "parallel_iterations", "infer_shape"}
_IN_PARALLEL = "Let tf.vectorized_map run the ops once for all elements, or give the function the whole tensor"


def small_ops_findings(evidence: Evidence) -> list[Finding]:
    """Name the function that makes the most expensive crowd of small ops."""
    ops = evidence.step_ops()
    table = small_ops(ops)
    many = table[(table["count"] >= _MIN_COUNT) & (100 * table["cost_share"] >= _WORTH_SAYING_PERCENT)]
    return [_finding(ops, pd.Series(row)) for _, row in many.head(1).iterrows()]


def _finding(ops: StepOps, row: pd.Series) -> Finding:
    place, percent, code = ops.place(row["frame"]), 100 * row["cost_share"], ops.code(row["frame"])
    in_loop, mapping = bool(row["in_loop"]), _mapping_frame(ops, int(row["frame"]))
    mapped = _vectorized_map(ops.code(mapping))
    return Finding(
        severity_of(percent, _WORTH_SAYING_PERCENT, _HIGH_PERCENT),
        f"Many small ops in each step: {_subject(row, place)}",
        f"{'They run' if row['kind'] else 'It runs'} about {_units.count(round(row['count'], -1))} ops per step"
        f"{', in a loop' * in_loop}. Half of them take less than {_units.microseconds(row['median_us'])}. With the "
        f"time to start them, they take {_units.percent(percent)} of each step."
        f"{place and f' Most come from {place}: `{_units.shorten(code, 80)}`.'}",
        f"{_IN_PARALLEL}{f': `{_units.shorten(mapped, 80)}`' * bool(mapped)} ({ops.place(mapping)})."
        if mapping >= 0
        else _vectorised(row, in_loop=in_loop),
        percent,
        proved_by="source",
        place=ops.place(mapping) if mapping >= 0 else place,
        gain_low_percent=_LEAST_SAVED * percent,
        gain_high_percent=percent,
        change=mapped,
        instead_of=(BETWEEN_OPS, ONE_OP, SMALL_STEPS),
    )


def _mapping_frame(ops: StepOps, frame: int) -> int:
    """Return the line that runs a line for one element after another by `tf.map_fn`; -1 for none."""
    texts = ops.graphs.frames["text"].astype(str)
    traces = (trace for trace in ops.graphs.traces if frame in trace)
    return next((outer for trace in traces for outer in trace if re.search(r"\bmap_fn\(", texts.iloc[outer])), -1)


def _vectorized_map(code: str) -> str:
    """Return the line with `tf.vectorized_map`, which infers the types of the results; empty if it is not so plain.

    Examples
    --------
    >>> _vectorized_map("return tf.map_fn(f, (x, y), fn_output_signature=tf.float32)")
    'return tf.vectorized_map(f, (x, y))'
    """
    statements = parsed(code.removeprefix("return ")).body
    calls = [node for one in statements for node in ast.walk(one) if isinstance(node, ast.Call)]
    mapping = [call for call in calls if ast.unparse(call.func) == "tf.map_fn"]
    if len(mapping) != 1 or len(mapping[0].args) != 2 or not _INFERRED.issuperset(_keywords(mapping[0])):
        return ""
    mapping[0].func, mapping[0].keywords = ast.parse("tf.vectorized_map", mode="eval").body, []
    written = "\n".join(map(ast.unparse, statements))
    return f"return {written}" if code.startswith("return ") else written


def _keywords(call: ast.Call) -> set[str]:
    return {str(keyword.arg) for keyword in call.keywords}


def _subject(row: pd.Series, place: str) -> str:
    if row["kind"]:
        return f"{row['layers']} {row['kind']} layers"
    function = str(row["function"]).rpartition(".")[2]
    return function if function.isidentifier() else place


def _vectorised(row: pd.Series, *, in_loop: bool) -> str:
    if row["kind"]:
        return "Use one layer for all of them, on one tensor that holds their inputs side by side."
    if in_loop:
        return (
            "Vectorise what does not need the result of the iteration before: take it out of the loop, as a few ops on "
            "the whole tensor. Sums and averages over time are a tf.cumsum, a tf.einsum or a convolution."
        )
    return (
        "Vectorise what does not need the result of an earlier slice: apply each op once to the whole tensor, not to "
        "one slice after another (x instead of x[:, i])."
    )
