"""Python: the lines that take the time between ops, sampled, and the methods of Keras callbacks."""

from typing import Any

import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.python import Python
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.render.panels import Column, Note, Panel, Table

_COLUMNS = (
    Column("place", "line", "code", path=True),
    Column("function", "function", "code"),
    Column("self_ms", "own time", "ms", bar=True, meaning="the line was the innermost of your code, or in a library"),
    Column("library", "mostly in", meaning="the package that the line called"),
    Column("total_ms", "total time", "ms", meaning="the line was on the stack"),
    Column("ops_ms", "while ops ran", "ms", meaning="in steps, while ops ran: the line waited for them", hidden=True),
    Column("nothing_ms", "while nothing ran", "ms", meaning="in steps, while TensorFlow ran nothing", hidden=True),
    Column("waiting_ms", "while waiting for data", "ms", meaning="in steps, while they waited for data", hidden=True),
    Column("between_steps_ms", "between steps", "ms", hidden=True),
    Column("samples", "samples", "count", hidden=True),
)
_THREAD = Column("thread", "thread")
_MODULE = "<module>"  # what runs outside of functions
_MUCH = 0.1  # of a line's time: what it waited for is said
_CALLBACK_COLUMNS = (
    Column("callback", "callback", "code"),
    Column("method", "method", "code"),
    Column("calls", "calls", "count"),
    Column("total_ms", "time", "ms", bar=True, meaning="measured, not sampled"),
    Column("per_step_ms", "time per step", "ms", meaning="of all steps of the capture"),
)


def panels(result: Python) -> list[Panel]:
    """Show how much of the unaccounted time the samples explain, the lines, and the callbacks."""
    callbacks = (
        [Table("Keras callbacks", result.callbacks, _CALLBACK_COLUMNS, kept_in="callbacks")]
        if len(result.callbacks)
        else []
    )
    if not len(result.table):
        return [*callbacks, *(Note(note, "empty") for note in result.notes)]
    columns = (*_COLUMNS, _THREAD) if len(set(result.table["thread"])) > 1 else _COLUMNS
    return [
        Note(_answer(result.table), "answer"),
        Table("Lines of Python, by their own time", _with_places(result.table), columns, selects=""),
        *callbacks,
        *(Note(note, "info") for note in [_sampled(result.summary), *result.notes]),
    ]


def _with_places(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the places of lines; what is no code of the user's has none."""
    places = [place_of(file, line) for file, line in zip(rows["file"], rows["line"], strict=True)]
    place = pd.Series(places, rows.index, dtype=object).where(rows["line"] > 0)
    return rows.assign(place=place, function=rows["function"].where(rows["function"] != _MODULE))


def _answer(rows: pd.DataFrame) -> str:
    """Say which line took longest, where that time went, and what it waited for."""
    of_main = rows[rows["thread"] == "main"]
    rows = of_main if len(of_main) else rows
    own = rows[rows["line"] > 0]
    if own.empty:
        return "No line of your code was running when Python was sampled."
    row = own.iloc[own["self_ms"].to_numpy().argmax()]
    share = _units.share(row["self_ms"] / max(rows["self_ms"].sum(), 1e-9))
    where = place_of(row["file"], row["line"])
    name = where if row["function"] == _MODULE else f"`{row['function']}` ({where})"
    library = f", mostly in {row['library']}" if row["library"] else ""
    took = _units.milliseconds(row["self_ms"])
    return f"{name[:1].upper()}{name[1:]} took longest: {took}, {share} of Python's time{library}{_waited(row)}."


def _waited(row: Any) -> str:
    """Say how long a line waited for ops, or for data, where that is much of its time."""
    reasons = {"ops_ms": "ops ran", "waiting_ms": "the steps waited for data"}
    longest = max(reasons, key=lambda name: row[name])
    if not row[longest] >= _MUCH * row["self_ms"]:
        return ""
    return f". For {_units.milliseconds(row[longest])} of that, {reasons[longest]}"


def _sampled(summary: dict[str, Any]) -> str:
    """Say how often Python was sampled, and how much of the time outside of ops that explains."""
    every = f"{_units.count(summary['samples'])} samples, one every {_units.milliseconds(summary['interval_ms'])}."
    explained = summary["accounted_percent"]
    if pd.isna(explained):
        return every
    return f"{every} They explain {_units.percent(explained)} of the time in which steps ran no op."
