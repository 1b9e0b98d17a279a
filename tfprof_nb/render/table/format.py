"""What every form of a table shares: its columns, their headers, and their values as text and for scripts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats
from tfprof_nb._units import cell, is_numeric
from tfprof_nb.render.panels import Column, Table
from tfprof_nb.render.short_names import short_names

_MAX_PATH = 40  # characters; the tooltip has the whole path


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


def encode_table(
    frame: pd.DataFrame, columns: Sequence[Column], depth: str
) -> tuple[list[dict[str, Any]], list[bytes], bytes]:
    """Return the columns' headers and texts, the columns' values, and the rows' depths.

    Values are little-endian float64, one per row: the number, or the index of the row's text, -1 for none. Depths have
    the same type; they are empty if ``depth`` is.
    """
    encoded = [_encode(frame[column.key], column) for column in columns]
    headers = [_header(column) | _texts(column, texts) for column, (_, texts) in zip(columns, encoded, strict=True)]
    depths = frame[depth].to_numpy("<f8").tobytes() if depth else b""
    return headers, [values.tobytes() for values, _ in encoded], depths


def _header(column: Column) -> dict[str, Any]:
    return {key: getattr(column, key) for key in ("key", "header", "kind", "bar", "meaning", "signed", "hidden")}


def _texts(column: Column, texts: list[str] | None) -> dict[str, list[str] | None]:
    """Return a column's distinct texts, and for paths their short forms."""
    short = {"short": short_names(texts, _MAX_PATH, column.trim)} if column.path and texts else {}
    return {"texts": texts, **short}


def _encode(values: pd.Series, column: Column) -> tuple[np.ndarray[Any, np.dtype[np.float64]], list[str] | None]:
    """Return one float64 per row, and the distinct texts, if the column is one of texts."""
    if is_numeric(column.kind) or column.kind == "flag":
        return pd.to_numeric(values).to_numpy(dtype="<f8", na_value=np.nan), None
    codes, texts = pd.factorize(values.astype(object))
    return codes.astype("<f8"), [str(text) for text in texts]
