"""A table as HTML without script.

In: Table panels. Out: HTML with inline styles only, since notebooks' sanitisers drop style sheets.
"""

from collections.abc import Iterator
from itertools import chain, repeat

import pandas as pd
from markupsafe import Markup

from tfprof_nb._units import is_numeric, shorten
from tfprof_nb.render.markup import Attribute, element, join, tag
from tfprof_nb.render.panels import Column, Table
from tfprof_nb.render.short_names import short_names
from tfprof_nb.render.table.format import bar_shares, cell_texts, columns_of, cut_notice, flat
from tfprof_nb.render.theme import BLUE

# Alignment by attribute is short and survives every sanitiser; JupyterLab's own style sheet aligns table cells right,
# so that left needs a style.
_LEFT: dict[str, Attribute] = {"style": "text-align:left"}
_LEFT_LONG: dict[str, Attribute] = {"style": "text-align:left;overflow-wrap:anywhere;min-width:14em"}
_RIGHT: dict[str, Attribute] = {"align": "right"}
_TABLE = tag("table", cellpadding=4, style="border-collapse:collapse;font-size:12px;margin:0")
_ROW, _END_ROW = Markup("<tr>"), Markup("</tr>")
# What stands before and behind a text.
_CODE, _NO_CODE = (Markup("<code>"), Markup("</code></td>")), (Markup(), Markup("</td>"))
_BAR_WIDTH = 48
_LONG = 32
_MAX_TOOLTIP = 300


def html_table(panel: Table, rows: int, text: int) -> Markup:
    """Draw the first ``rows`` rows; texts longer than ``text`` lose their middle."""
    panel = flat(panel)
    columns = [column for column in columns_of(panel) if not column.hidden]
    frame = panel.frame.head(rows)
    head = element("thead", element("tr", *map(_head, columns)))
    body = element("tbody", join(_rows(frame, columns, text)))
    table = element("div", join([_TABLE, head, body, Markup("</table>")]), style="overflow-x:auto")
    notice = cut_notice(len(frame), len(panel.frame), "rows", panel)
    return table + element("div", notice, style="font-size:12px;opacity:.75;padding:4px") if notice else table


def _head(column: Column) -> Markup:
    side = _RIGHT if is_numeric(column.kind) else _LEFT
    return element("th", column.header, **side, title=column.meaning or None)


def _rows(frame: pd.DataFrame, columns: list[Column], text: int) -> Iterator[str]:
    """Return the pieces of all rows: tags, and texts that are not escaped yet."""
    cells = (_cells(frame, column, text) for column in columns)
    begins, ends = repeat((_ROW,), len(frame)), repeat((_END_ROW,), len(frame))
    return chain.from_iterable(chain.from_iterable(zip(begins, *cells, ends, strict=True)))


def _cells(frame: pd.DataFrame, column: Column, text: int) -> Iterator[tuple[str, ...]]:
    """Yield the pieces of each of a column's table cells."""
    full = cell_texts(frame, column)
    texts = short_names(full, text, column.trim) if column.path else [shorten(value, text) for value in full]
    long = max(map(len, texts), default=0) > _LONG
    side = _RIGHT if is_numeric(column.kind) else _LEFT_LONG if long else _LEFT
    begin, (code, end) = tag("td", **side), _CODE if column.kind == "code" else _NO_CODE
    bars = map(_bar, bar_shares(frame, column)) if column.bar else repeat(Markup(), len(texts))
    for whole, short, bar in zip(full, texts, bars, strict=True):
        cut = column.path and short != whole
        opening = tag("td", **side, title=shorten(whole, _MAX_TOOLTIP)) if cut else begin
        yield opening, bar, code, short, end


def _bar(share: float) -> Markup:
    width = round(share * _BAR_WIDTH)
    box = f"display:inline-block;height:8px;width:{width}px;background-color:{BLUE};margin-right:6px;"
    return element("span", style=box) if width else Markup()
