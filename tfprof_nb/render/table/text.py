"""A table as text: columns are aligned, headers wrapped, and columns that don't fit left out with a notice."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from tfprof_nb._units import is_numeric, shorten
from tfprof_nb.render.panels import Table, Trim
from tfprof_nb.render.short_names import short_names
from tfprof_nb.render.table.format import cell_texts, columns_of, cut_notice, flat

_GAP = "  "
# The width down to which texts are cut; if that is not enough, columns are left out from the right.
_NARROW, _NARROW_PATH = 22, 40
_MAX_CELL = 200
_BREAKABLE = re.compile(r"[^\S\N{NO-BREAK SPACE}]+")


@dataclass
class _Printed:
    header: str
    values: list[str]
    right: bool
    trim: Trim | None = None
    width: int = 0

    def natural(self) -> int:
        """Return the width at which no value is cut and no word of the header is broken."""
        return max(len(text) for text in [*self.values, *self.header.split(), ""])

    def least(self) -> int:
        """Return the width that the column needs at least; numbers are never cut."""
        return self.natural() if self.right else min(self.natural(), _NARROW_PATH if self.trim else _NARROW)

    def fitting(self) -> list[str]:
        """Return the values; paths are cut to the width such that different ones stay different."""
        return short_names(self.values, self.width, self.trim) if self.trim else self.values

    def line(self, text: str) -> str:
        """Fit one text into the column."""
        return f"{shorten(text, self.width):{'>' if self.right else '<'}{self.width}}"


def text_table(panel: Table, width: int) -> list[str]:
    """Return the first rows of a table in lines of at most ``width`` characters."""
    panel = flat(panel)
    frame = panel.frame.head(panel.rows)
    columns = [
        _Printed(
            column.header,
            [_one_line(text) for text in cell_texts(frame, column)],
            is_numeric(column.kind),
            column.trim if column.path else None,
        )
        for column in columns_of(panel)
        if not column.hidden
    ]
    if not len(frame) or not columns:
        return ["– No rows."]
    shown = _that_fit(columns, width)
    _widen(shown, width)
    rows = zip(*([column.line(value) for value in column.fitting()] for column in shown), strict=True)
    lines = [*_header_lines(shown), *map(_GAP.join, rows)]
    notices = [
        cut_notice(len(frame), len(panel.frame), "rows", panel),
        cut_notice(len(shown), len(columns), "columns", panel),
    ]
    return [*(line.rstrip() for line in lines), *filter(None, notices)]


def _one_line(text: str) -> str:
    return shorten(_BREAKABLE.sub(" ", text).strip(" "), _MAX_CELL)  # no-break spaces indent code


def _that_fit(columns: Sequence[_Printed], width: int) -> list[_Printed]:
    """Return the columns from the left that fit at their least width, but at least one."""
    shown: list[_Printed] = []
    for column in columns:
        column.width = column.least()
        if shown and _total([*shown, column]) > width:
            break
        shown.append(column)
    return shown


def _widen(columns: Sequence[_Printed], width: int) -> None:
    """Widen columns that are still cut, from the left, as far as there is room."""
    for column in columns:
        column.width = min(column.natural(), column.width + max(0, width - _total(columns)))


def _total(columns: Sequence[_Printed]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _header_lines(columns: Sequence[_Printed]) -> list[str]:
    """Return the headers, wrapped within their columns, and the rule below them."""
    wrapped = [textwrap.wrap(column.header, column.width) or [""] for column in columns]
    lines = list(zip_longest(*(words[::-1] for words in wrapped), fillvalue=""))[::-1]
    written = [_GAP.join(column.line(text) for column, text in zip(columns, line, strict=True)) for line in lines]
    return [*written, _GAP.join("─" * column.width for column in columns)]
