"""The notebook's cell that was captured: its text, its lines' times, and which line ran when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._units import NS_PER_MS
from tfprof_nb.analysis.events.forest import Forest

EVENT = "cell line "  # what events of lines are called; the line's number follows
_LINE = re.compile(EVENT + "([0-9]{1,9})")
EVENTS_KEPT = 1000  # of a short line; afterwards it is only counted


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell.

    Attributes
    ----------
    text
        The cell, the magic's line first; empty where no cell was captured.
    file
        The name that it was compiled as.
    times
        ``self_ms occurrences`` by line, of the lines with a statement.
    estimated
        Lines whose time is an estimate.
    first, last
        The lines that ran when the recording began and ended; 0 for none.
    """

    text: str = ""
    file: str = ""
    times: pd.DataFrame = field(default_factory=lambda: _times({}))
    estimated: tuple[int, ...] = ()
    first: int = 0
    last: int = 0


def read_cell(section: Mapping[str, Any]) -> Cell:
    """Return what a sidecar's section ``cell`` holds."""
    if not section:
        return Cell()
    return Cell(
        str(section["text"]),
        str(section["file"]),
        _times(section),
        tuple(int(line) for line in section["estimated"]),
        int(section["first"]),
        int(section["last"]),
    )


def read_labels(section: Mapping[str, Any]) -> dict[str, str]:
    """Return what a sidecar's section ``cells`` holds: by the name of each compiled file, which cell it is."""
    return {str(file): str(label) for file, label in section.items()}


def _times(section: Mapping[str, Any]) -> pd.DataFrame:
    columns = {name: np.array(section.get(name, []), dtype=np.int64) for name in ("line", "spent_ns", "hits")}
    by_line = pd.DataFrame(columns).groupby("line").sum()
    return pd.DataFrame({"self_ms": by_line["spent_ns"] / NS_PER_MS, "occurrences": by_line["hits"]})


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
    stopped = (recorded >= EVENTS_KEPT) & (cell.times["occurrences"] > recorded)
    return (cell.times["occurrences"] / recorded)[stopped]
