"""A frame encoded for the browser's script, for the widget and for reports."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._units import is_numeric
from tfprof_nb.render.panels import Column
from tfprof_nb.render.short_names import short_names

_MAX_PATH = 40  # characters; the tooltip has the whole path


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
