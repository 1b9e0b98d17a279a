"""A table as HTML without script.

In: Table panels. Out: HTML with inline styles only, since notebooks' sanitisers drop style sheets.
"""

from __future__ import annotations

from html import escape

import pandas as pd

from tfprof_nb._units import is_numeric, shorten
from tfprof_nb.render.panels import Column, Table
from tfprof_nb.render.short_names import short_names
from tfprof_nb.render.table.format import bar_shares, cell_texts, columns_of, flat, header, rows_notice
from tfprof_nb.render.theme import HOST_COMPUTE

# Alignment by attribute is short and survives every sanitiser; JupyterLab's own style sheet aligns table cells right,
# so that left needs a style.
_LEFT = ' style="text-align:left"'
_LEFT_LONG = ' style="text-align:left;overflow-wrap:anywhere;min-width:14em"'
_RIGHT = ' align="right"'
_BAR_WIDTH = 48
_LONG = 32
_MAX_TOOLTIP = 300


def html_table(panel: Table, rows: int, text: int) -> str:
    """Draw the first ``rows`` rows; texts longer than ``text`` lose their middle."""
    panel = flat(panel)
    columns = columns_of(panel)
    frame = panel.frame.head(rows)
    heads = "".join(_head(column) for column in columns)
    written = [_column(frame, column, text) for column in columns]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*written, strict=True))
    notice = rows_notice(len(frame), len(panel.frame))
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
    """Return one column's table cells."""
    full = cell_texts(frame, column)
    texts = short_names(full, text) if column.path else [shorten(value, text) for value in full]
    written = [escape(value) for value in texts]
    if column.kind == "code":
        written = [f"<code>{value}</code>" for value in written]
    if column.bar:
        written = [_bar(share) + value for share, value in zip(bar_shares(frame, column), written, strict=True)]
    long = max(map(len, texts), default=0) > _LONG
    side = _RIGHT if is_numeric(column.kind) else _LEFT_LONG if long else _LEFT
    tooltips = [_tooltip(whole) if column.path and whole != cut else "" for whole, cut in zip(full, texts, strict=True)]
    return [f"<td{side}{tooltip}>{value}</td>" for tooltip, value in zip(tooltips, written, strict=True)]


def _tooltip(text: str) -> str:
    return f' title="{escape(shorten(text, _MAX_TOOLTIP))}"'


def _bar(share: float) -> str:
    width = round(share * _BAR_WIDTH)
    box = f"display:inline-block;height:8px;width:{width}px;background-color:{HOST_COMPUTE};margin-right:6px;"
    return f'<span style="{box}"></span>' if width else ""
