"""Columns that several tables share."""

from __future__ import annotations

from tfprof_nb.analysis.events.names import without_calls
from tfprof_nb.render.panels import Column

# The column of op names, by which rows select an op in the other panels.
OP = "op_name"


def op_column(header: str = "op", meaning: str = "") -> Column:
    """Return the column of op names; names that are too long lose first the function calls that they begin with."""
    return Column(OP, header, "code", meaning=meaning, path=True, trim=without_calls)
