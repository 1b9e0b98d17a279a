"""A line that runs eagerly beside tf.functions."""

import re

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice.evidence import Evidence, training_ms
from tfprof_nb.analysis.advice.findings import at_most, quoted
from tfprof_nb.analysis.advice.rule import IN_TENSORFLOW, TRACING_MS, Case, Cases, Earlier, Rule
from tfprof_nb.analysis.advice.rules.python._time import NAMED, told_by_python
from tfprof_nb.analysis.advice.rules.tracing._eager import (
    INTO_A_FUNCTION,
    MANY_OPS,
    TRACED_MODEL,
    called_layer,
    costliest_line,
    decorated,
    least_saved,
    runs_eagerly,
    runs_functions,
)
from tfprof_nb.analysis.source.calls import changes_weights
from tfprof_nb.analysis.source.code import place_of

_COUNTS = re.compile(r"\bin range\((?!len\b)|^while\b")  # a loop that goes through no data
_ALL_AT_ONCE = "If it takes batches, call it once for all that `{}` ({}) goes through."

RULE = Rule(
    "eager-line",
    "A line runs eagerly beside tf.functions",
    "Looks for lines, or functions that could be traced, whose ops run outside of any tf.function and take much of the "
    "training.",
    "Python dispatches each op, which takes longer than most small ops. In a tf.function they run as one graph.",
    action="Run these ops as a graph, or once for all",
    explains=("op", "copy", IN_TENSORFLOW, "keras", "optimizer"),
    page="python",
    moderate=15.0,
    high=25.0,
    of="training",
    saved=(0.5, None),
    after=("eager-loop", "grown-by-concatenation", *NAMED),
    supersedes=("dominant-layer",),
    part_of="eager-ops",
    order="first",
    once_ms=TRACING_MS,
    results="close",
)


def check(evidence: Evidence, earlier: Earlier) -> Cases:
    """Name the line that runs most ops eagerly, unless a loop around it or a case on Python tells more."""
    if not runs_eagerly(evidence) or not runs_functions(evidence) or earlier["eager-loop"]:
        return
    found = costliest_line(evidence)
    if found is None or earlier["grown-by-concatenation"] or told_by_python(earlier, found.percent):
        return
    file, line, function = found.file, found.line, found.function
    ops = round(float(found.of_line["ops_per_step"].max()))
    place, code, change = place_of(file, line), evidence.code.line(file, line), ""
    what, fix = quoted(code) if code else "The line", INTO_A_FUNCTION
    if found.definition:
        place, what = place_of(file, found.definition), function
        change = f"@tf.function\n{evidence.code.line(file, found.definition)}"
        fix = decorated(evidence.code, function, change)
    else:
        if model := called_layer(evidence, found.of_line):
            fix = TRACED_MODEL.format(model)
        head, loop_code = evidence.code.loop_line(file, line)
        all_known = head and not _COUNTS.search(loop_code) and not changes_weights(evidence.code, file, line)
        if function != "<module>" and all_known:
            at_once = _ALL_AT_ONCE.format(_units.shorten(loop_code, 60), place_of(file, head))
            fix = f"{at_once} Otherwise {fix[:1].lower()}{fix[1:]}"
    many = f"its {_units.count(ops)} ops per step" if ops >= MANY_OPS and not found.definition else "its ops"
    yield Case(
        found.percent,
        finding=f"Ops run eagerly: {f'{function} ({place})' if found.definition else place}",
        evidence=f"{what} takes {evidence.of_training(found.percent)}: {many} run outside any tf.function, where "
        "Python starts each.",
        fix=fix,
        place=place,
        change=change,
        saved=_parts_saved(evidence, found.calls, found.percent),
        subject=function if found.definition else "",
    )


def _parts_saved(evidence: Evidence, calls: pd.DataFrame, percent: float) -> tuple[float, float]:
    """Return which parts of the time of lines that run eagerly a graph saves: that between their ops.

    Samples show too much of ops, as they are taken when an op lets Python go: the ops' own time tells more, but of
    gradients, whose ops are those of other lines.
    """
    ops_ms, lines = float(calls["ops_ms"].sum()), pd.MultiIndex.from_frame(calls[["file", "line"]])
    ops = evidence.source().all_ops
    own_ms = float(ops.loc[pd.MultiIndex.from_frame(ops[["file", "line"]]).isin(lines), "op_ms"].sum())
    if own_ms > 0 and not calls["call"].str.contains("Tape.gradient").any():
        ops_ms = min(ops_ms, own_ms)
    between = min(1.0, max(0.0, 1 - ops_ms / max(float(calls["eager_ms"].sum()), 1e-9)))
    least = least_saved(percent / 100 * training_ms(evidence) * between)
    return least * between, at_most(percent * between) / max(percent, 1e-9)
