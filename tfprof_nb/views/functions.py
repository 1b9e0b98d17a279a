"""tf.functions: how often each was called, and how many calls traced it."""

from tfprof_nb.analysis.functions.functions import Functions
from tfprof_nb.render.panels import Column, Note, Panel, Table

_COLUMNS = (
    Column("function", "function", "code"),
    Column("total_ms", "total time", "ms", bar=True),
    Column("calls", "calls", "count"),
    Column("mode", "how it ran", meaning="whether the call traced the function, and whether XLA compiled it"),
    Column("tracings", "tracings", "count", meaning="since the program began"),
    Column("self_ms", "self time", "ms"),
    Column("expensive_call_percent", "in calls that trace", "percent", meaning="share of the function's self time"),
)
# Plain words for TensorFlow's, which the frame keeps.
_MODES = {
    "eager": "eagerly, op by op",
    "concrete": "as a concrete function",
    "traced-nonXla": "traced first, then ran without XLA",
    "traced-xla": "traced first, then ran with XLA",
    "notTraced-nonXla": "ran an existing graph, without XLA",
    "notTraced-xla": "ran an existing graph, with XLA",
}


def panels(functions: Functions) -> list[Panel]:
    """Show calls by function and mode."""
    if not len(functions.table):
        return [Note(note, "empty") for note in functions.notes]
    rows = functions.table.assign(mode=functions.table["mode"].replace(_MODES))
    return [Table("Calls of tf.functions", rows, _COLUMNS), *map(Note, functions.notes)]
