"""Columns and units that several views share."""

from tfprof_nb import _units
from tfprof_nb.analysis.events.names import without_calls
from tfprof_nb.render.panels import Column

# The column of op names, by which rows select an op in the other panels.
OP = "op_name"


def op_column(meaning: str = "") -> Column:
    """Return the column of op names; names that are too long lose first the function calls that they begin with."""
    return Column(OP, "op", "code", meaning=meaning, path=True, trim=without_calls)


def time_unit(ms: float) -> tuple[_units.Kind, str, float]:
    """Return the unit for a chart of times up to ``ms``: its kind, how it is written, and what to multiply ms with."""
    return ("us", "µs", float(_units.US_PER_MS)) if ms < 1 else ("ms", "ms", 1.0)
