"""Where the cell's time went, as a tree."""

from tfprof_nb import _units
from tfprof_nb.analysis.breakdown.breakdown import Breakdown
from tfprof_nb.render.panels import Column, Note, Panel, Table

_COLUMNS = (
    Column("name", "part", "code"),
    Column("share", "share", "share", bar=True, meaning="of the whole"),
    Column("total_ms", "time", "ms"),
    Column("self_ms", "in itself", "ms", meaning="the time that none of its parts has"),
    Column("count", "count", "count", meaning="how often it ran, where that is known"),
    Column("place", "line", "code"),
    Column("kind", "kind"),
)
_INDENT = "\xa0\xa0"
_ABOUT = "The time of {}: every moment is in one part, and parts add up to what they are parts of."


def panels(result: Breakdown) -> list[Panel]:
    """Show the tree as a table, each part below what it is a part of."""
    table, depth = result.table, result.table["id"].str.count("/")
    indented = depth.map(_INDENT.__mul__) + table["name"].astype(str)
    whole = f"the cell, {_units.milliseconds(result.summary['cell_ms'])}"
    if not result.of_cell:
        indented = indented.where(depth > 0, "main thread")
        whole = whole.replace("the cell", "the main thread from its first recorded event to its last")
    table = table.assign(depth=depth, name=indented, count=table["count"].where(table["count"] > 0))
    return [Note(_ABOUT.format(whole)), Table("", table, _COLUMNS, 40, depth="depth"), *map(Note, result.notes)]
