"""What every form of a table shares: which columns it has, their headers, and their values as text.

In: Table panels. Out: columns, text, bar lengths.
"""

from dataclasses import replace

import pandas as pd

from tfprof_nb._arrays import Floats
from tfprof_nb._units import cell
from tfprof_nb.render.panels import Column, Table


def flat(panel: Table) -> Table:
    """Turn the index levels that are among the panel's columns into ordinary columns."""
    names = [name for name in panel.frame.index.names if name is not None]
    if not any(column.key in names for column in panel.columns):
        return panel
    return replace(panel, frame=panel.frame.reset_index())


def columns_of(panel: Table) -> list[Column]:
    """Return the panel's columns that its frame has."""
    return [column for column in panel.columns if column.key in panel.frame.columns]


def cell_texts(frame: pd.DataFrame, column: Column) -> list[str]:
    """Write the values of one column; missing values become a dash."""
    values = frame[column.key]
    texts = [cell(None if gone else value, column.kind) for value, gone in zip(values, values.isna(), strict=True)]
    if not column.signed:
        return texts
    return [f"+{text}" if more else text for text, more in zip(texts, values > 0, strict=True)]


def bar_shares(frame: pd.DataFrame, column: Column) -> Floats:
    """Return the lengths of a column's bars, 0 to 1: shares as they are, other values relative to the largest."""
    values = pd.to_numeric(frame[column.key], errors="coerce").fillna(0).to_numpy(dtype="float64").clip(0)
    whole = {"share": 1.0, "percent": 100.0}.get(column.kind) or values.max(initial=0) or 1.0
    shares: Floats = (values / whole).clip(0, 1)
    return shares


def cut_notice(shown: int, total: int, what: str, panel: Table) -> str:
    """Return how many rows or columns are shown of how many, and where all are; nothing if all are shown."""
    where = f"; all {what} in .{panel.kept_in}" if panel.kept_in else ""
    return f"{shown:,} of {total:,} {what}{where}" if shown < total else ""
