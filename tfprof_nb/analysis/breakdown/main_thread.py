"""The thread that runs the cell: which it is, when the cell begins and ends, and what was innermost at each moment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Bools, Int64, Objects
from tfprof_nb._units import PS_PER_NS
from tfprof_nb.analysis.breakdown.sharing import Pieces, innermost
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.main_line import main_line
from tfprof_nb.decode.sections.cell import Cell


@dataclass(frozen=True, eq=False)
class MainThread:
    """The events of the thread that runs the cell; an event is given by its place among these.

    Attributes
    ----------
    forest
        The host's events.
    events
        The thread's events in the host's columns; none if no thread of the host is known to run the program. Events
        without length, such as allocations, are left out.
    parent, depth
        Per event: the event around it, -1 for none; and how deep in others it lies.
    begin_ps, end_ps
        When the recorded part of the cell begins and ends.
    """

    forest: Forest
    events: Int64
    parent: Int64
    depth: npt.NDArray[np.signedinteger]
    begin_ps: int
    end_ps: int

    @cached_property
    def names(self) -> Objects:
        """The distinct names of events on the host."""
        return self.forest.host.names

    @cached_property
    def name(self) -> Int64:
        """Per event: the number of its name."""
        return self.forest.host.metadata[self.events].astype(np.int64)

    @cached_property
    def start_ps(self) -> Int64:
        """Per event: when it begins."""
        return self.forest.host.start_ps[self.events]

    @cached_property
    def end_of_ps(self) -> Int64:
        """Per event: when it ends."""
        return self.forest.ends_ps(self.events)

    @cached_property
    def inner_levels(self) -> list[Int64]:
        """The events that lie in others, by depth, the outermost first."""
        order = np.argsort(self.depth, kind="stable")  # of 16-bit integers a radix sort
        levels = np.split(order, np.cumsum(np.bincount(self.depth))[:-1]) if len(order) else []
        inner = [level[self.parent[level] >= 0] for level in levels]
        return [level for level in inner if len(level)]

    def only(self, chosen: Bools) -> MainThread:
        """Return the thread with the chosen events alone."""
        around = self.innermost_of(chosen)
        place = np.cumsum(chosen) - 1
        above = self.parent[chosen]
        above = np.where(above >= 0, around[above], -1)
        parent = np.where(above >= 0, place[above], -1)
        return replace(self, events=self.events[chosen], parent=parent, depth=self.depth[chosen])

    def pieces(self) -> Pieces:
        """Cut the cell's time where the innermost event changes."""
        return innermost(self.start_ps, self.end_of_ps, self.parent, self.depth, self.begin_ps, self.end_ps)

    def innermost_of(self, chosen: Bools) -> Int64:
        """Return per event the innermost of the chosen events among itself and those around it, -1 for none."""
        found = np.where(chosen, np.arange(len(chosen)), -1)
        for level in self.inner_levels:
            found[level] = np.where(found[level] < 0, found[self.parent[level]], found[level])
        return found

    def outermost_of(self, chosen: Bools) -> Int64:
        """Return per event the outermost of the chosen events among itself and those around it, -1 for none."""
        found = np.where(chosen, np.arange(len(chosen)), -1)
        for level in self.inner_levels:
            above = found[self.parent[level]]
            found[level] = np.where(above >= 0, above, found[level])
        return found

    def starts_with(self, *prefixes: str) -> Bools:
        """Return per event whether its name starts so."""
        return np.array([str(name).startswith(prefixes) for name in self.names], dtype=bool)[self.name]


def main_thread(forest: Forest, cell: Cell, sampled_ps: int) -> MainThread:
    """Find the thread that runs the cell, and the recorded part of the cell.

    That thread has the events of the cell's lines and of Keras' calls; else the marks of steps, else it is the one that
    dispatches most ops. The cell begins and ends as the sidecar says; without a cell, it lasts until the last event and
    the last sample, at ``sampled_ps``: after these the profiler gathers what threads recorded.
    """
    host = forest.host
    recorded_ps = host.recorded_ns * PS_PER_NS
    begin, end = 0, max(forest.end_ps, min(sampled_ps, recorded_ps))
    if not host.recorded_ns and len(host):
        begin = int(host.start_ps.min())
    if cell.began_ns and host.began_ns:
        begin = max(begin, (cell.began_ns - host.began_ns) * PS_PER_NS)
        ended = (cell.ended_ns - host.began_ns) * PS_PER_NS
        end = min(max(end, recorded_ps), ended) if ended > begin else end
    line = forest.once(main_line)
    first, last = (host.lines[line].first, host.lines[line].last) if line >= 0 else (0, 0)
    nesting = forest.nesting
    chosen = (host.duration_ps[first:last] > 0) & (nesting.depth[first:last] >= 0)
    parent = nesting.parent[first:last][chosen].astype(np.int64) - first
    events = first + np.flatnonzero(chosen)
    place = np.cumsum(chosen) - 1
    around = (parent >= 0) & (parent < last - first)  # an event of another thread is around none here
    parent = np.where(around, place[np.where(around, parent, 0)] if len(place) else -1, -1)
    return MainThread(forest, events, parent, nesting.depth[events], min(begin, end), end)
