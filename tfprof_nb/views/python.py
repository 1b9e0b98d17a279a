"""Python: the lines that take the time between ops, sampled, and the methods of Keras callbacks."""

import numpy as np
import pandas as pd

from tfprof_nb import _units
from tfprof_nb.analysis.python import Python
from tfprof_nb.render.panels import Column, Figure, KeyFigures, Note, Panel, Table

_COLUMNS = (
    Column("function", "function", "code"),
    Column("file", "file", "code", path=True),
    Column("line", "line", "count"),
    Column("self_ms", "own time", "ms", bar=True, meaning="the line was the innermost of your code, or in a library"),
    Column("library", "mostly in", meaning="the package that the line called"),
    Column("total_ms", "total time", "ms", meaning="the line was on the stack"),
    Column("nothing_ms", "while nothing ran", "ms", meaning="in steps, while TensorFlow recorded nothing"),
    Column("ops_ms", "while ops ran", "ms", meaning="in steps, while ops ran: the line waited for them"),
    Column("waiting_ms", "while waiting for data", "ms", meaning="in steps, while the step waited for its data"),
    Column("between_steps_ms", "between steps", "ms"),
    Column("samples", "samples", "count"),
    Column("thread", "thread"),
)
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
    return [
        KeyFigures(_figures(result)),
        Table("Lines of Python, by their own time", _with_known_lines(result.table), _COLUMNS, selects=""),
        *callbacks,
        *(Note(note, "info") for note in result.notes),
    ]


def _with_known_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """Mark the line of what is no code of the user's as missing."""
    return rows.assign(line=rows["line"].where(rows["line"] > 0).astype(np.float64))


def _figures(result: Python) -> list[Figure]:
    numbers = result.summary
    return [
        Figure("samples", _units.count(numbers["samples"])),
        Figure("interval", _units.milliseconds(numbers["interval_ms"]), "the time from one sample to the next"),
        Figure(
            "explained", _units.percent(numbers["accounted_percent"]), "the part of the steps' other time with samples"
        ),
    ]
