"""A frame as a table to sort, search, select in and export: sent once, worked with in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import anywidget
import numpy as np
import pandas as pd
import traitlets.traitlets as t

from tfprof_nb._units import is_numeric
from tfprof_nb.render.bundle import bundle
from tfprof_nb.render.panels import Column


class TableWidget(anywidget.AnyWidget):
    """A table of any length.

    Parameters
    ----------
    frame
        The rows.
    columns
        Which columns to show, and how.
    depth
        The column that says how deep each row lies, where rows are a tree; else empty.

    Attributes
    ----------
    selected_row
        Position of the selected row in ``frame``, whatever the order on screen, or None.
    title
        What the table is called for screen readers and in the name of an exported file.
    """

    _esm, _css = bundle("table")

    title = t.Unicode("").tag(sync=True)
    rows = t.Int(0).tag(sync=True)
    columns = t.List(t.Dict()).tag(sync=True)
    buffers = t.List(t.Bytes()).tag(sync=True)
    depths = t.Bytes(b"").tag(sync=True)
    selected_row = t.Int(None, allow_none=True).tag(sync=True)

    def __init__(self, frame: pd.DataFrame, columns: Sequence[Column], depth: str = "", **traits: Any) -> None:
        headers, buffers, depths = encode_table(frame, columns, depth)
        super().__init__(rows=len(frame), columns=headers, buffers=buffers, depths=depths, **traits)


def encode_table(
    frame: pd.DataFrame, columns: Sequence[Column], depth: str
) -> tuple[list[dict[str, Any]], list[bytes], bytes]:
    """Return what the script draws a table from: columns with their texts, the columns' values, the rows' depths."""
    encoded = [_encode(frame[column.key], column) for column in columns]
    headers = [asdict(column) | {"texts": texts} for column, (_, texts) in zip(columns, encoded, strict=True)]
    depths = frame[depth].to_numpy("<f8").tobytes() if depth else b""
    return headers, [values.tobytes() for values, _ in encoded], depths


def _encode(values: pd.Series, column: Column) -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[str] | None]:
    """One float64 for each row: the number itself, or the place of its text in the list of distinct texts."""
    if is_numeric(column.kind) or column.kind == "flag":
        return pd.to_numeric(values).to_numpy(dtype="<f8", na_value=np.nan), None
    codes, texts = pd.factorize(values.astype(object))
    return codes.astype("<f8"), [str(text) for text in texts]
