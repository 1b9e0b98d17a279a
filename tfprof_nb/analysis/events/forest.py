"""One host's events as a forest: what each line is, and how events nest in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb.analysis.events.names import ParsedNames, parse_names
from tfprof_nb.analysis.events.nesting import Nesting, nest
from tfprof_nb.decode import Host

T = TypeVar("T")

# Line ids that converters add beside the recorded ones (`trace_utils.h`), 32 bits with or without sign; older files
# only name them.
_FIRST_DERIVED_LINE, _DERIVED_LINE_IDS = 0xDEADBEEF, 390
_DERIVED_LINES = frozenset(
    {
        "Steps",
        "TensorFlow Ops",
        "TensorFlow Name Scope",
        "Framework Ops",
        "Framework Name Scope",
        "XLA Modules",
        "XLA Ops",
        "Async XLA Ops",
        "Source code",
        "Source Code",
        "Launch Stats",
        "_counters_",
    }
)
_DEVICE_PLANES = ("/device:", "#Chip")
_THREADPOOL_MARKS = "ThreadpoolListener::"


class Forest:
    """One host's events with everything that several analyses need, computed on first use and kept.

    Attributes
    ----------
    host
        The decoded columns.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self._found: dict[Callable[[Forest], Any], Any] = {}

    def once(self, analysis: Callable[[Forest], T]) -> T:
        """Return what an analysis finds in these events; it runs when it is first asked for."""
        if analysis not in self._found:
            self._found[analysis] = analysis(self)
        found: T = self._found[analysis]
        return found

    @cached_property
    def end_ps(self) -> int:
        """When the last event ended, 0 without events."""
        return int((self.host.start_ps + self.host.duration_ps).max(initial=0))

    @cached_property
    def line_is_device(self) -> Bools:
        """Per line: part of a device's plane."""
        planes = np.array([plane.name.startswith(_DEVICE_PLANES) for plane in self.host.planes], dtype=bool)
        return np.array([planes[line.plane] for line in self.host.lines], dtype=bool)

    @cached_property
    def line_is_derived(self) -> Bools:
        """Per line: added by a converter, made of other lines' events."""

        def derived(line_id: int, name: str) -> bool:
            # "Framework Ops - from #13" is made of stream 13.
            made_of_all = name.partition(" - from #")[0]
            return (line_id - _FIRST_DERIVED_LINE) % 2**32 < _DERIVED_LINE_IDS or made_of_all in _DERIVED_LINES

        derived_lines = np.array([derived(line.id, line.name) for line in self.host.lines], dtype=bool)
        added: Bools = self.line_is_device & derived_lines
        return added

    @cached_property
    def on_host(self) -> Bools:
        """Per event: recorded on a thread of the host."""
        return self._spread_over_events(~self.line_is_device)

    @cached_property
    def on_device(self) -> Bools:
        """Per event: recorded on a device's stream; events of derived lines are not."""
        return self._spread_over_events(self.line_is_device & ~self.line_is_derived)

    @cached_property
    def names(self) -> ParsedNames:
        """What each of the host's names stands for."""
        return parse_names(self.host.names)

    @cached_property
    def nesting(self) -> Nesting:
        """How events contain one another on their line.

        Asynchronous events (`_a`) take no part, nor do the marks of the thread pool: these have no length and are
        nearly half of a usual CPU profile.
        """
        asynchronous = self.host.ints("_a")
        include = ~self.name_starts(_THREADPOOL_MARKS)
        include[asynchronous.rows[asynchronous.values == 1]] = False
        return nest(self.host.line, self.host.start_ps, self.host.duration_ps, include)

    @cached_property
    def levels(self) -> list[Int64]:
        """Rows by nesting depth, outermost first."""
        depth = self.nesting.depth + 1
        # Of 16-bit integers numpy's stable sort is a radix sort.
        order = np.argsort(depth, kind="stable")
        return np.split(order, np.cumsum(np.bincount(depth)))[1:-1] if len(depth) else []

    @cached_property
    def named_as_marks(self) -> Bools:
        """Events that upstream takes for step marks by their name: a function called ``train_step`` is one of them."""
        return self.names_as_marks[self.host.metadata]

    @cached_property
    def names_as_marks(self) -> Bools:
        """Per name: see `named_as_marks`."""
        marks = [name.startswith(("train", "test", "TraceContext")) and "/" not in name for name in self.host.names]
        return np.array(marks, dtype=bool)

    def named(self, *names: str) -> Bools:
        """Events with one of these names."""
        wanted = np.array([name in names for name in self.host.names], dtype=bool)
        return wanted[self.host.metadata]

    def name_starts(self, *prefixes: str) -> Bools:
        """Events whose name starts with one of these prefixes, whatever its case."""
        return self.names_starting(*prefixes)[self.host.metadata]

    def names_starting(self, *prefixes: str) -> Bools:
        """Per name: starts with one of these prefixes, whatever its case."""
        lowered = tuple(prefix.lower() for prefix in prefixes)
        return np.array([name.startswith(lowered) for name in self._lowered_names], dtype=bool)

    def names_with(self, *parts: str) -> Bools:
        """Per name: contains one of these texts, whatever its case."""
        lowered = [part.lower() for part in parts]
        return np.array([any(part in name for part in lowered) for name in self._lowered_names], dtype=bool)

    def nearest_ancestor(self, rows: Int64, ancestors: Int64) -> Int64:
        """Return for each row the position in ``ancestors`` of the nearest that contains it, -1 for none."""
        position = np.full(len(self.host), -1, dtype=np.int64)
        position[ancestors] = np.arange(len(ancestors))
        # Most lines have none of the ancestors.
        lines = np.zeros(len(self.host.lines), dtype=bool)
        lines[self.host.line[ancestors]] = True
        found = np.full(len(rows), -1, dtype=np.int64)
        open_ = np.flatnonzero(lines[self.host.line[rows]])
        above = rows[open_]
        while len(open_):
            above = self.nesting.parent[above]
            open_, above = open_[above >= 0], above[above >= 0]
            found[open_] = position[above]
            open_, above = open_[found[open_] < 0], above[found[open_] < 0]
        return found

    def outermost(self, rows: Int64) -> Int64:
        """Return the rows that lie inside no other of them."""
        return rows[self.nearest_ancestor(rows, rows) < 0]

    @cached_property
    def _lowered_names(self) -> list[str]:
        return [str(name).lower() for name in self.host.names]

    def _spread_over_events(self, per_line: Bools) -> Bools:
        return per_line[self.host.line] if len(self.host) else np.zeros(0, dtype=bool)
