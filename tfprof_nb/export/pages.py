"""Results and frames as JSON can hold them, for programs and assistants; `markdown` writes them as Markdown."""

import json
import math
from typing import Any

import pandas as pd

from tfprof_nb.analysis.result import Result
from tfprof_nb.export.sql import with_index

VERSION = 1  # of the keys


def page_dict(name: str, result: Result, rows: int = 20) -> dict[str, Any]:
    """Return a result as JSON can hold it: summary, notes and the first rows of its table."""
    return {
        "format": "tfprof_nb page",
        "version": VERSION,
        "page": name,
        "summary": plain(result.summary),
        "notes": [str(getattr(note, "text", note)) for note in result.notes],
        **table_dict(result.table, rows),
    }


def table_dict(frame: pd.DataFrame, rows: int = 20) -> dict[str, Any]:
    """Return the first rows of a frame, and how many it has. Unknown numbers are None.

    Examples
    --------
    >>> table_dict(pd.DataFrame({"ms": [1.5, float("nan")]}), rows=1)
    {'rows': [{'ms': 1.5}], 'row_count': 2}
    """
    return {"rows": [plain(row) for row in with_index(frame).head(rows).to_dict("records")], "row_count": len(frame)}


def to_json(value: Any) -> str:
    """Return JSON with a line per key."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: numbers of numpy as Python's, unknown ones as None."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)
