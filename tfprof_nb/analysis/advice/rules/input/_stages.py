"""The slowest stage of the pipeline that steps wait for, and what the program gives to it."""

import re
from typing import Any

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.advice import Evidence, quoted
from tfprof_nb.analysis.source.code import line_at, place_of
from tfprof_nb.analysis.source.mapped import lines_mapped, mapped_name
from tfprof_nb.analysis.tf_data.iterators import iterator_type
from tfprof_nb.analysis.tf_data.tf_data import TfData

_MOST_OF_FUNCTION = 0.6
# Keras makes a pipeline of its own for arrays that its methods take.
_OF_KERAS = re.compile(r"\.(fit|evaluate|predict)\(")
# Types of ops that draw random numbers.
DRAWING = "Random|Multinomial|SampleDistorted|Stateful(?:Uniform|StandardNormal|TruncatedNormal|Binomial)|RngRead"
OPENING = ("Interleave", "ParallelInterleave", "FlatMap")
MAPS, FILTERS = ("Map", "ParallelMap", "MapAndBatch"), ("Filter", "ParallelFilter")
# tf.data names functions after the method that takes them, e.g. `__inference_Dataset_map_decode_42`.
FUNCTIONS = {
    **dict.fromkeys(MAPS, "Dataset_map_"),
    **dict.fromkeys(FILTERS, "Dataset_filter_"),
    **dict.fromkeys(("Interleave", "ParallelInterleave", "LegacyParallelInterleave"), "Dataset_interleave_"),
    "FlatMap": "Dataset_flat_map_",
}


def slow_name(evidence: Evidence) -> str:
    """Return the long name of the slowest stage."""
    return str(evidence.tf_data.summary["bottleneck_long_name"] or "")


def stage_of(evidence: Evidence) -> str:
    """Return the type of the slowest stage; empty if it is unknown."""
    return iterator_type(slow_name(evidence))


def stages(evidence: Evidence) -> set[str]:
    """Return the types of all stages."""
    return {iterator_type(name) for name in evidence.tf_data.table["long_name"]}


def line_of_stage(evidence: Evidence) -> str:
    """Return the line that gave the slowest stage its function; empty if that is unknown."""
    stage = stage_of(evidence)
    return evidence.line_of(FUNCTIONS[stage]) if stage in FUNCTIONS else ""


def shown_stage(evidence: Evidence) -> str:
    """Name the slowest stage with its line."""
    line = line_of_stage(evidence)
    code = evidence.code.at(line)
    placed = f" ({line}{f', {quoted(code)}' if code else ''})" if line else ""
    return f"the slowest stage of the input pipeline is {_units.shorten(stage_of(evidence), 80)}{placed}"


def mapped_by_stage(evidence: Evidence) -> str:
    """Return what the slowest stage calls, if it is a map."""
    return mapped(evidence, line_of_stage(evidence)) if stage_of(evidence) in MAPS else ""


def of_keras(evidence: Evidence) -> str:
    """Return the method of Keras that makes the pipeline of arrays; empty if it is another's."""
    found = _OF_KERAS.search(evidence.code.at(line_of_stage(evidence)))
    return found[1] if found and "Generator" not in stages(evidence) else ""


def mapped(evidence: Evidence, line: str) -> str:
    """Return what the map at a line calls: the name of a function, or "the lambda"; empty if that is unknown."""
    return _units.shorten(mapped_name(evidence.code, *line_at(line)), 40)


def ops_mapped(evidence: Evidence, line: str) -> pd.DataFrame:
    """Return the ops of the function that the map at a line calls."""
    ops, (file, first, last) = evidence.source().all_ops, lines_mapped(evidence.code, *line_at(line))
    return ops[(ops["file"] == file) & ops["line"].between(first, last)]


def with_costly_line(evidence: Evidence) -> str:
    """Name the slowest stage, and the line that takes most of what it calls, if one does and it is not all there is."""
    shown, line = shown_stage(evidence), line_of_stage(evidence)
    of_lines = ops_mapped(evidence, line).groupby("line")["op_ms"].sum()
    if len(of_lines) < 2 or not of_lines.max() > _MOST_OF_FUNCTION * of_lines.sum():
        return shown
    number = int(of_lines.index.to_numpy()[of_lines.to_numpy().argmax()])
    share, file = float(of_lines.max() / of_lines.sum()), lines_mapped(evidence.code, *line_at(line))[0]
    code = quoted(evidence.code.line(file, number))
    return f"{shown}; {_units.share(share)} of the time of its ops is that of {code} ({place_of(file, number)})"


def is_random(evidence: Evidence, line: str) -> bool:
    """Whether the function given to the map at a line draws random numbers."""
    return bool(ops_mapped(evidence, line)["op_type"].str.contains(DRAWING).any())


def filling_cache(evidence: Evidence) -> bool:
    """Whether a cache stands between the slow stage and the end: then only the first pass is slow."""
    return "Cache" in slow_name(evidence)


def copying_share(evidence: Evidence) -> float:
    """Return the time of copies to the device over the steps' input time, at most 1: some copies overlap computing."""
    ops, input_ms = evidence.ops.table, float(evidence.steps.table["input_ms"].sum())
    copied_us = ops.loc[(ops["side"] == "device") & (ops["op_type"] == "MemcpyHToD"), "self_us"].sum()
    return min(1.0, copied_us / _units.US_PER_MS / input_ms) if input_ms else 0.0


def longest_wait(tf_data: TfData) -> dict[str, Any]:
    """Return where the trace shows the call that is typical of slow ones, and the iterator that delayed it."""
    if not len(tf_data.table):
        return {"proved_by": "input_pipeline"}
    call = tf_data.table.iloc[0]
    return {
        "proved_by": "tf_data",
        "op_name": str(tf_data.summary["bottleneck_long_name"] or ""),
        "start_ms": float(call["start_ms"]),
        "duration_ms": float(call["total_ms"]),
    }
