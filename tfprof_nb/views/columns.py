"""Columns that several tables share."""

from __future__ import annotations

from tfprof_nb.analysis.events.names import without_calls
from tfprof_nb.render.panels import Column

# What a row selects in the other panels, by this column.
OP = "op_name"


def op_column(header: str = "op", meaning: str = "") -> Column:
    """Return the column of op names; too long a name loses first the calls of functions that it starts with."""
    return Column(OP, header, "code", meaning=meaning, path=True, trim=without_calls)
