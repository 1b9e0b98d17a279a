"""tf.functions: how often each was called, and how many calls had to trace it."""

from __future__ import annotations

from tfprof_nb.analysis.functions import Functions
from tfprof_nb.render.panels import Column, Note, Panel, Table

_COLUMNS = (
    Column("function", "function", "code"),
    Column("mode", "mode", meaning="eager, concrete, traced or not traced, and the compiler"),
    Column("calls", "calls", "count"),
    Column("tracings", "tracings", "count", meaning="how often the function has been traced since the program began"),
    Column("expensive_call_percent", "in calls that trace", "percent", meaning="share of the function's own time"),
    Column("total_ms", "total time", "ms", bar=True),
    Column("self_ms", "self time", "ms"),
)


def panels(functions: Functions) -> list[Panel]:
    """Show calls by function and mode."""
    if not len(functions.table):
        return [Note(note, "empty") for note in functions.notes]
    return [Table("Calls of tf.functions", functions.table, _COLUMNS), *map(Note, functions.notes)]
