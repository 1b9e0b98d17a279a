"""Memory: each allocator's peak, its use over time, and what was alive at the peak."""

from __future__ import annotations

import numpy as np

from tfprof_nb import _units
from tfprof_nb.analysis.memory import Memory
from tfprof_nb.render.panels import Column, Figure, KeyFigures, Lines, Note, Panel, Series, Table
from tfprof_nb.render.theme import MEMORY_HEAP, MEMORY_STACK

_BYTES_PER_MIB = 2**20
_POINTS = 1000
_COLUMNS = (
    Column("allocator", "allocator"),
    Column("op_name", "op", "code", meaning="the op that asked for the memory"),
    Column("allocation_bytes", "allocated", "bytes", bar=True),
    Column("requested_bytes", "requested", "bytes"),
    Column("occurrences", "times", "count"),
    Column("region_type", "region"),
    Column("data_type", "data type"),
    Column("shape", "shape", "code"),
)


def panels(memory: Memory) -> list[Panel]:
    """Show each allocator over time, then what was alive at the peaks."""
    if not len(memory.allocators):
        return [Note(note, "empty") for note in memory.notes]
    return [
        *(panel for name in memory.allocators.index for panel in _allocator(memory, str(name))),
        Table("Alive at the peak", memory.table, _COLUMNS),
        *(Note(note, "info") for note in memory.notes),
    ]


def _allocator(memory: Memory, name: str) -> list[Panel]:
    numbers = memory.summary[name]
    figures = [
        Figure(f"peak of {name}", _units.size(numbers["peak_bytes"]), "heap and stack together, while captured"),
        Figure("at", _units.milliseconds(numbers["peak_time_ms"]), "from the start of the capture"),
        Figure("capacity", _units.size(numbers["capacity_bytes"])),
        Figure("peak since the program began", _units.size(numbers["peak_bytes_lifetime"])),
        Figure("allocations", _units.count(numbers["allocations"])),
        Figure("fragmentation at the peak", _units.share(numbers["fragmentation"])),
    ]
    return [KeyFigures(figures), _over_time(memory, name)]


def _over_time(memory: Memory, name: str) -> Lines:
    """Stack and heap over time; of many points the highest of each stretch is drawn, so that peaks stay."""
    timeline = memory.timeline[memory.timeline["allocator"] == name].reset_index(drop=True)
    stretch = np.arange(len(timeline)) * _POINTS // max(len(timeline), _POINTS)
    drawn = timeline.loc[timeline["memory_in_use_bytes"].groupby(stretch).idxmax()]
    series = [
        Series(label, drawn[column].to_numpy(np.float64) / _BYTES_PER_MIB, color)
        for label, column, color in (("heap", "heap_bytes", MEMORY_HEAP), ("stack", "stack_bytes", MEMORY_STACK))
        if drawn[column].any()
    ]
    return Lines(
        f"Memory in use: {name}", drawn["time_ms"].to_numpy(np.float64), series, "time (ms)", "MiB", stacked=True
    )
