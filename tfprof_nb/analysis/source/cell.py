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
    """Return the rows of the cell's lines, and the line of each."""
    found = [_LINE.fullmatch(name) for name in forest.host.names]
    number = np.array([int(line[1]) if line else 0 for line in found], dtype=np.int64)
    rows = np.flatnonzero((number > 0)[forest.host.metadata])
    return rows, number[forest.host.metadata[rows]]


def running_lines(forest: Forest, cell: Cell, rows: Int64) -> Int64:
    """Return the line of the cell that each event ran in, on the cell's own thread; 0 where that is not known."""
    marks, number = line_events(forest)
    nearest = forest.nearest_ancestor(rows, marks)
    found = np.append(number, 0)[nearest]
    host = forest.host
    threads = (
        np.unique(host.line[marks]) if len(marks) else [i for i, at in enumerate(host.lines) if at.name == "python"]
    )
    outside = np.isin(host.line[rows], threads) & (nearest < 0)
    begin = host.start_ps[marks].min(initial=np.iinfo(np.int64).max)
    end = (host.start_ps[marks] + host.duration_ps[marks]).max(initial=begin)
    # A line that ran when the recording began or ended left no event of that.
    found[outside & (host.start_ps[rows] < begin)] = cell.first
    found[outside & (host.start_ps[rows] >= end)] = cell.last
    return found


def unrecorded_factor(forest: Forest, cell: Cell) -> pd.Series[float]:
    """Return, by line, how many times as often it ran as it left an event, for lines that stopped leaving one."""
    _, number = line_events(forest)
    recorded = pd.Series(number).value_counts().reindex(cell.times.index, fill_value=0)
    stopped = (recorded >= CELL_LINE_EVENTS) & (cell.times["occurrences"] > recorded)
    return (cell.times["occurrences"] / recorded)[stopped]
