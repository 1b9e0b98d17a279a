"""tf.functions: how often each was called, and how many calls had to trace it."""

from __future__ import annotations

from tfprof_nb.analysis.functions.functions import Functions
from tfprof_nb.render.panels import Column, Note, Panel, Table

_COLUMNS = (
    Column("function", "function", "code"),
    Column("mode", "how it ran", meaning="whether the call had to trace the function, and whether XLA compiled it"),
    Column("calls", "calls", "count"),
    Column("tracings", "tracings", "count", meaning="how often the function has been traced since the program began"),
    Column("expensive_call_percent", "in calls that trace", "percent", meaning="share of the function's own time"),
    Column("total_ms", "total time", "ms", bar=True),
    Column("self_ms", "self time", "ms"),
)
# TensorFlow's words (the frame keeps them) in plain ones.
_MODES = {
    "eager": "eagerly, op by op",
    "concrete": "as a concrete function",
    "traced-nonXla": "traced first, then ran without XLA",
    "traced-xla": "traced first, then ran with XLA",
    "notTraced-nonXla": "ran a graph that was there already, without XLA",
    "notTraced-xla": "ran a graph that was there already, with XLA",
}


def panels(functions: Functions) -> list[Panel]:
    """Show calls by function and mode."""
    if not len(functions.table):
        return [Note(note, "empty") for note in functions.notes]
    told = functions.table.assign(mode=functions.table["mode"].replace(_MODES))
    return [Table("Calls of tf.functions", told, _COLUMNS), *map(Note, functions.notes)]
