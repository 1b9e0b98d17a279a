"""A profile and its limits: what exceeds them, in words and as a table."""

import math

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.render.panels import Column, Note, Panel, Table

_KINDS: dict[str, _units.Kind] = {
    "step_ms": "ms",
    "input_percent": "percent",
    "peak_bytes": "bytes",
    "retraced": "count",
}
_UNKNOWN = {
    "step_ms": "the profile has no steps",
    "input_percent": "the profile has no steps that show it",
    "peak_bytes": "the profile has no memory events",
}


def panels(checked: pd.DataFrame) -> list[Panel]:
    """Say what exceeds its limit, and show all limits."""
    over = checked[~checked["within"]]
    shown = checked.assign(
        limit=[_text(*row) for row in zip(checked["budget"], checked["limit"], strict=True)],
        measured=[_text(*row) for row in zip(checked["budget"], checked["measured"], strict=True)],
        within=checked["within"].map({True: "within", False: "OVER"}),
    )
    columns = [Column(name, name) for name in ("budget", "limit", "measured", "within")]
    said = "; ".join(_over(*row) for row in over[["budget", "limit", "measured"]].itertuples(index=False))
    return [Note(f"Over budget: {said}." if said else "Within budget.", "answer"), Table("Budget", shown, columns)]


def _over(name: str, limit: float, measured: float) -> str:
    if math.isnan(measured):
        return f"{name} is not known, because {_UNKNOWN[name]}"
    return f"{name} is {_text(name, measured)}, the limit is {_text(name, limit)}"


def _text(name: str, value: float) -> str:
    return _units.cell(value, _KINDS[name])
