"""A frame as a table to sort, search and export: sent once, and handled in the browser."""

from collections.abc import Sequence
from typing import Any

import anywidget
import pandas as pd
import traitlets.traitlets as t

from tfprof_nb.render.bundle import source
from tfprof_nb.render.panels import Column
from tfprof_nb.render.table.encoding import encode_table


class TableWidget(anywidget.AnyWidget):
    """A table of any length.

    Parameters
    ----------
    frame
        The rows.
    columns
        Which columns to show, and how.
    depth
        For rows that form a tree, the column of their depths; else empty.

    Attributes
    ----------
    selected_row
        Position of the selected row in ``frame``, whatever the order on screen, or None.
    title
        The table's name for screen readers and for exported files.
    """

    _esm, _css = source("table")

    title = t.Unicode("").tag(sync=True)
    rows = t.Int(0).tag(sync=True)
    columns = t.List(t.Dict()).tag(sync=True)
    buffers = t.List(t.Bytes()).tag(sync=True)
    depths = t.Bytes(b"").tag(sync=True)
    selected_row = t.Int(None, allow_none=True).tag(sync=True)

    def __init__(self, frame: pd.DataFrame, columns: Sequence[Column], depth: str = "", **traits: Any) -> None:
        headers, buffers, depths = encode_table(frame, columns, depth)
        super().__init__(rows=len(frame), columns=headers, buffers=buffers, depths=depths, **traits)
