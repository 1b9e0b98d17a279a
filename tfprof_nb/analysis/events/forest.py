"""One host's events as a forest: the kinds of its lines, and how events nest.

Throughout analysis, an event is given by its position in the columns of `Host`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar, TypeVarTuple

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int32, Int64, Ints, Objects
from tfprof_nb.analysis.events.names import ParsedNames, parse_names
from tfprof_nb.analysis.events.nesting import Nesting, nest
from tfprof_nb.decode import Host
from tfprof_nb.formats.xspace import ANNOTATION, ASYNCHRONOUS, COUNTERS, THREADPOOL_PREFIX

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_FEW_NAMES = 8  # so many comparisons with each event's name take less time than a look-up

# Ids of lines that converters add to the recorded ones (`trace_utils.h`), 32 bits with or without sign; in older files
# only the names tell.
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
        "Annotations",
        "Source code",
        "Source Code",
        "Launch Stats",
        COUNTERS,
    }
)
_DEVICE_PLANES = ("/device:", "#Chip")


class Forest:
    """One host's events, with what several analyses need of them, computed on first use and kept.

    Attributes
    ----------
    host
        The decoded columns.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self._results: dict[tuple[Callable[..., Any], tuple[Any, ...]], Any] = {}

    def once(self, analysis: Callable[[Forest, *Ts], T], *given: *Ts) -> T:
        """Return the result of an analysis of these events and what else it is given, which runs once."""
        if (analysis, given) not in self._results:
            self._results[analysis, given] = analysis(self, *given)
        result: T = self._results[analysis, given]
        return result

    def anew(self, analysis: Callable[[Forest, *Ts], T], *given: *Ts) -> T:
        """Return the result of an analysis of these events and what else it is given, which is not kept."""
        return analysis(self, *given)

    @cached_property
    def end_ps(self) -> int:
        """When the last event ended, 0 without events."""
        return self.host.end_ps

    @cached_property
    def line_is_device(self) -> Bools:
        """Per line: whether it belongs to a device."""
        planes = np.array([plane.name.startswith(_DEVICE_PLANES) for plane in self.host.planes], dtype=bool)
        return np.array([planes[line.plane] for line in self.host.lines], dtype=bool)

    @cached_property
    def line_is_counters(self) -> Bools:
        """Per line: whether its events are values of counters, which nothing ran for."""
        return np.array([line.name == COUNTERS for line in self.host.lines], dtype=bool)

    @cached_property
    def are_counters(self) -> Bools:
        """Per event: whether it is a counter's value."""
        return self._spread_over_events(self.line_is_counters)

    @cached_property
    def are_annotations(self) -> Bools:
        """Per event: whether it names a stretch of the program, and is no work itself."""
        annotations = np.zeros(len(self.host), dtype=bool)
        annotations[self.host.ints(ANNOTATION).rows] = True
        return annotations

    @cached_property
    def line_is_derived(self) -> Bools:
        """Per line: whether a converter made it of other lines' events."""

        def derived(line_id: int, name: str) -> bool:
            # "Framework Ops - from #13" is made of stream 13.
            made_of_all = name.partition(" - from #")[0]
            return (line_id - _FIRST_DERIVED_LINE) % 2**32 < _DERIVED_LINE_IDS or made_of_all in _DERIVED_LINES

        derived_lines = np.array([derived(line.id, line.name) for line in self.host.lines], dtype=bool)
        added: Bools = self.line_is_device & derived_lines
        return added

    @cached_property
    def on_host(self) -> Bools:
        """Per event: whether it was recorded on a thread of the host."""
        return self._spread_over_events(~self.line_is_device & ~self.line_is_counters)

    @cached_property
    def on_device(self) -> Bools:
        """Per event: whether it was recorded on a device's stream; events of derived lines were not."""
        return self._spread_over_events(self.line_is_device & ~self.line_is_derived)

    @cached_property
    def names(self) -> ParsedNames:
        """What each of the host's names stands for."""
        return parse_names(self.host.names)

    @cached_property
    def nesting(self) -> Nesting:
        """How events enclose one another on their line.

        Asynchronous events (`_a`) take no part, nor do the marks of the thread pool: these have no length and are
        nearly half of a usual CPU profile.
        """
        asynchronous = self.host.ints(ASYNCHRONOUS)
        include = ~self.name_starts(THREADPOOL_PREFIX)
        include[asynchronous.rows[asynchronous.values == 1]] = False
        return nest(self.host.line, self.host.start_ps, self.host.duration_ps, include)

    @cached_property
    def levels(self) -> list[Int32]:
        """The events of each nesting depth, outermost first."""
        depth = self.nesting.depth
        outer, inner = (np.flatnonzero(found).astype(np.int32) for found in (depth == 0, depth > 0))
        # For 16-bit integers numpy's stable sort is a radix sort.
        order = np.argsort(depth[inner], kind="stable")
        inner_levels = np.split(inner[order], np.cumsum(np.bincount(depth[inner]))[1:-1]) if len(inner) else []
        return [outer, *inner_levels] if len(outer) else []

    @cached_property
    def named_as_marks(self) -> Bools:
        """Per event: whether XProf takes it for a step mark by its name, such as that of a function ``train_step``."""
        return self.with_names(self.names_as_marks)

    @cached_property
    def names_as_marks(self) -> Bools:
        """Per name: as `named_as_marks`."""
        marks = [name.startswith(("train", "test", "TraceContext")) and "/" not in name for name in self.host.names]
        return np.array(marks, dtype=bool)

    def named(self, *names: str) -> Bools:
        """Per event: whether it has one of these names."""
        return self.with_names(np.array([name in names for name in self.host.names], dtype=bool))

    def name_starts(self, *prefixes: str) -> Bools:
        """Per event: whether its name starts with one of these prefixes, in any case."""
        return self.with_names(self.names_starting(*prefixes))

    def with_names(self, chosen: Bools) -> Bools:
        """Per event: whether its name is among some, given by a flag per name."""
        codes = np.flatnonzero(chosen)
        if len(codes) > _FEW_NAMES:
            return chosen[self.host.metadata]
        found = np.zeros(len(self.host), dtype=bool)
        for code in codes:
            found |= self.host.metadata == code
        return found

    def names_starting(self, *prefixes: str) -> Bools:
        """Per name: whether it starts with one of these prefixes, in any case."""
        lowered = tuple(prefix.lower() for prefix in prefixes)
        return np.array([name.startswith(lowered) for name in self._lowered_names], dtype=bool)

    def names_with(self, *parts: str) -> Bools:
        """Per name: whether it contains one of these texts, in any case."""
        lowered = [part.lower() for part in parts]
        return np.array([any(part in name for part in lowered) for name in self._lowered_names], dtype=bool)

    def ends_ps(self, events: Ints) -> Int64:
        """Return when events ended."""
        return self.host.start_ps[events] + self.host.duration_ps[events]

    def planes_of(self, events: Int64) -> Int64:
        """Return the plane of each event, as an index into the host's planes."""
        return np.array([line.plane for line in self.host.lines], dtype=np.int64)[self.host.line[events]]

    def texts_at(self, stat: str, events: Int64) -> Objects:
        """Return a text stat of events, empty where an event has none."""
        texts = self.host.texts(stat)
        if texts.categories is None:
            return np.full(len(events), "", dtype=object)
        return np.append(texts.categories, "")[texts.at(events).astype(np.int64)]  # a missing code is -1, the last

    def ints_at(self, stat: str, events: Int64) -> Int64:
        """Return a whole-number stat of events, -1 where an event has none."""
        return self.host.ints(stat).at(events).astype(np.int64)

    def self_ps_among(self, events: Int64) -> Int64:
        """Return the self times of events, given in ascending order, as if there were no others."""
        host = self.host
        return nest(host.line[events], host.start_ps[events], host.duration_ps[events]).self_ps

    def nearest_ancestor(self, events: Int64, ancestors: Int64) -> Int64:
        """Return for each event the index in ``ancestors`` of the innermost that encloses it, -1 for none."""
        nearest = np.full(len(events), -1, dtype=np.int64)
        if not len(ancestors):
            return nearest
        position = np.full(len(self.host), -1, dtype=np.int32)
        position[ancestors] = np.arange(len(ancestors))
        # Most lines have none of the ancestors.
        lines = np.zeros(len(self.host.lines), dtype=bool)
        lines[self.host.line[ancestors]] = True
        open_ = np.flatnonzero(lines[self.host.line[events]])
        above = self.nesting.parent[events[open_]]
        while len(open_):
            open_, above = open_[above >= 0], above[above >= 0]
            found = position[above]
            nearest[open_] = found
            open_, above = open_[found < 0], self.nesting.parent[above[found < 0]]
        return nearest

    def outermost(self, events: Int64) -> Int64:
        """Return those of the events that lie inside no other of them."""
        return events[self.nearest_ancestor(events, events) < 0]

    @cached_property
    def _lowered_names(self) -> list[str]:
        return [str(name).lower() for name in self.host.names]

    def _spread_over_events(self, per_line: Bools) -> Bools:
        return per_line[self.host.line] if len(self.host) else np.zeros(0, dtype=bool)


def events(forests: Sequence[Forest]) -> pd.DataFrame:
    """Return every complete event: ``host plane line name start_ps duration_ps``; texts are categoricals."""
    frames = [_host_events(forest) for forest in forests]
    return pd.concat(frames, ignore_index=True).astype(dict.fromkeys(["host", "plane", "line", "name"], "category"))


def _host_events(forest: Forest) -> pd.DataFrame:
    complete = Forest(forest.host.complete())
    host, ran = complete.host, ~complete.are_counters
    line = host.line[ran]
    lines = pd.Categorical([line.name for line in host.lines])
    planes = pd.Categorical([host.planes[line.plane].name for line in host.lines])
    names = pd.Categorical(host.names)
    return pd.DataFrame(
        {
            "host": pd.Categorical.from_codes(np.zeros(len(line), dtype=np.int8), pd.Index([host.name])),
            "plane": pd.Categorical.from_codes(planes.codes[line], planes.categories),
            "line": pd.Categorical.from_codes(lines.codes[line], lines.categories),
            "name": pd.Categorical.from_codes(names.codes[host.metadata[ran]], names.categories),
            "start_ps": host.start_ps[ran],
            "duration_ps": host.duration_ps[ran],
        }
    )
