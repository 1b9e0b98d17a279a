"""The profiled cell: which of its lines ran when."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.decode.sections.cell import Cell
from tfprof_nb.formats.marks import CELL_LINE, CELL_LINE_EVENTS

_LINE = re.compile(CELL_LINE + "([0-9]{1,9})")


def line_events(forest: Forest) -> tuple[Int64, Int64]:
    """Return the events of the cell's lines, and the line number of each."""
    matches = [_LINE.fullmatch(name) for name in forest.host.names]
    number = np.array([int(line[1]) if line else 0 for line in matches], dtype=np.int64)
    events = np.flatnonzero((number > 0)[forest.host.metadata])
    return events, number[forest.host.metadata[events]]


def running_lines(forest: Forest, cell: Cell, events: Int64) -> Int64:
    """Return the line of the cell in which each event ran, on the cell's own thread; 0 where that is not known."""
    marks, number = line_events(forest)
    nearest = forest.nearest_ancestor(events, marks)
    line = np.append(number, 0)[nearest]
    host = forest.host
    threads = (
        np.unique(host.line[marks]) if len(marks) else [i for i, at in enumerate(host.lines) if at.name == "python"]
    )
    outside = np.isin(host.line[events], threads) & (nearest < 0)
    begin = host.start_ps[marks].min(initial=np.iinfo(np.int64).max)
    end = forest.ends_ps(marks).max(initial=begin)
    # A line that ran when the recording began or ended has no event for that run.
    line[outside & (host.start_ps[events] < begin)] = cell.first
    line[outside & (host.start_ps[events] >= end)] = cell.last
    return line


def unrecorded_factor(forest: Forest, cell: Cell) -> pd.Series[float]:
    """Return the runs per recorded event of lines whose later runs were only counted, by line."""
    _, number = line_events(forest)
    recorded = pd.Series(number).value_counts().reindex(cell.times.index, fill_value=0)
    stopped = (recorded >= CELL_LINE_EVENTS) & (cell.times["occurrences"] > recorded)
    return (cell.times["occurrences"] / recorded)[stopped]
