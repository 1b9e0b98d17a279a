"""A table as HTML without script.

In: Table panels. Out: HTML with inline styles only, since notebooks' sanitisers drop style sheets.
"""

from __future__ import annotations

from html import escape

import pandas as pd

from tfprof_nb._arrays import Floats
from tfprof_nb._units import COLUMN_UNITS, cell, is_numeric, shorten
from tfprof_nb.render.panels import Column, Table
from tfprof_nb.render.short_names import short_names
from tfprof_nb.render.theme import HOST_COMPUTE

# Alignment by attribute is short and survives every sanitiser; JupyterLab's own style sheet aligns cells right, so that
# left needs a style.
_LEFT = ' style="text-align:left"'
_LEFT_LONG = ' style="text-align:left;overflow-wrap:anywhere;min-width:14em"'
_RIGHT = ' align="right"'
_BAR_WIDTH = 48
_LONG = 32
_LONGEST_TIP = 300


def header(column: Column) -> str:
    """Return a column's header with its unit, unless the view wrote the unit itself."""
    unit = COLUMN_UNITS.get(column.kind, "")
    known = not unit or f"({unit})" in column.header or column.header.endswith(f" {unit}")
    return column.header if known else f"{column.header} ({unit})"


def cells(frame: pd.DataFrame, column: Column) -> list[str]:
    """Write the values of one column; missing values become a dash."""
    values = frame[column.key]
    return [cell(None if gone else value, column.kind) for value, gone in zip(values, values.isna(), strict=True)]


def cut_notice(shown: int, total: int) -> str:
    """Say how many rows a static form leaves out, or nothing when it shows all."""
    return f"{shown:,} of {total:,} rows; all rows in .table" if shown < total else ""


def columns_of(panel: Table) -> list[Column]:
    """Return the columns that the frame has; an index that a column names counts as one."""
    return [column for column in panel.columns if column.key in panel.frame.columns]


def flat(panel: Table) -> Table:
    """Turn index levels that columns name into ordinary columns."""
    names = [name for name in panel.frame.index.names if name is not None]
    if not any(column.key in names for column in panel.columns):
        return panel
    return Table(panel.title, panel.frame.reset_index(), panel.columns, panel.rows, panel.selects, panel.depth)


def table(panel: Table, rows: int, text: int) -> str:
    """Draw the first ``rows`` rows; texts longer than ``text`` lose their middle."""
    panel = flat(panel)
    columns = columns_of(panel)
    frame = panel.frame.head(rows)
    heads = "".join(_head(column) for column in columns)
    written = [_column(frame, column, text) for column in columns]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*written, strict=True))
    notice = cut_notice(len(frame), len(panel.frame))
    return (
        '<div style="overflow-x:auto"><table cellpadding="4" style="border-collapse:collapse;font-size:12px;margin:0">'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
        + (f'<div style="font-size:12px;opacity:.75;padding:4px">{notice}</div>' if notice else "")
    )


def _head(column: Column) -> str:
    side = _RIGHT if is_numeric(column.kind) else _LEFT
    meaning = f' title="{escape(column.meaning)}"' if column.meaning else ""
    return f"<th{side}{meaning}>{escape(header(column))}</th>"


def _column(frame: pd.DataFrame, column: Column, text: int) -> list[str]:
    """Return one column's cells."""
    full = cells(frame, column)
    texts = short_names(full, text) if column.path else [shorten(value, text) for value in full]
    written = [escape(value) for value in texts]
    if column.kind == "code":
        written = [f"<code>{value}</code>" for value in written]
    if column.bar:
        written = [_bar(width) + value for width, value in zip(bar_shares(frame, column), written, strict=True)]
    long = max(map(len, texts), default=0) > _LONG
    side = _RIGHT if is_numeric(column.kind) else _LEFT_LONG if long else _LEFT
    tips = [_tip(whole) if column.path and whole != cut else "" for whole, cut in zip(full, texts, strict=True)]
    return [f"<td{side}{tip}>{value}</td>" for tip, value in zip(tips, written, strict=True)]


def _tip(text: str) -> str:
    return f' title="{escape(shorten(text, _LONGEST_TIP))}"'


def bar_shares(frame: pd.DataFrame, column: Column) -> Floats:
    """Return the lengths of a column's bars, 0 to 1: shares as they are, other values relative to the largest."""
    values = pd.to_numeric(frame[column.key], errors="coerce").fillna(0).to_numpy(dtype="float64", copy=True)
    whole = {"share": 1.0, "percent": 100.0}.get(column.kind) or max(values.max(initial=0), 1e-300)
    shares: Floats = (values / whole).clip(0, 1)
    return shares


def _bar(share: float) -> str:
    width = round(share * _BAR_WIDTH)
    box = f"display:inline-block;height:8px;width:{width}px;background-color:{HOST_COMPUTE};margin-right:6px;"
    return f'<span style="{box}"></span>' if width else ""
