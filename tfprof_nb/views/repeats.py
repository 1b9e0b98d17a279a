"""Repeated runs of one program: how far they differ, in words, as a line and as a table."""

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.compare.headline import CAPTURE
from tfprof_nb.analysis.compare.repeats import Repeated
from tfprof_nb.render import theme
from tfprof_nb.render.panels import Column, Lines, Note, Panel, Series, Table
from tfprof_nb.views.columns import time_unit


def panels(repeated: Repeated) -> list[Panel]:
    """Show the median run and the range, each run, and how to compare them."""
    table, numbers = repeated.table, repeated.summary
    _, unit, factor = time_unit(numbers["time_ms_max"])
    of = "whole capture" if numbers["time_of"] == CAPTURE else f"time per {numbers['time_of']}"
    runs = [Series("each run", factor * table["time_ms"].to_numpy(np.float64), theme.BLUE)]
    columns = [
        Column("run", "run", "count"),
        Column("name", "name", "code"),
        Column("time_ms", of, "ms"),
        Column("step_ms", "median step", "ms"),
        Column("other_load_percent", "other programs", "percent", meaning="their share of the processors' time"),
    ]
    return [
        Note(answer(repeated), "answer"),
        *(
            [Lines("Each run", table.index.to_numpy(np.float64), runs, "run", f"{of} ({unit})")]
            if len(table) > 1
            else []
        ),
        Table("Runs", table.reset_index(), columns),
        *map(Note, repeated.notes),
    ]


def answer(repeated: Repeated) -> str:
    """Say what the median run took, and how far the runs differ."""
    numbers = repeated.summary
    what = "the capture" if numbers["time_of"] == CAPTURE else f"one {numbers['time_of']}"
    median, low, high = (_units.milliseconds(numbers[f"time_ms{end}"]) for end in ("", "_min", "_max"))
    if numbers["runs"] == 1:
        return f"1 run: {what} took {median}."
    times = _units.number(1 + numbers["range_percent"] / 100)
    return (
        f"{numbers['runs']} runs: {what} took {median} (the median; {low} to {high}). The slowest run took {times} "
        "times as long as the fastest."
    )
