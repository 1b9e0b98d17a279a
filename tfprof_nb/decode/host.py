"""The decoded form of one host's profile: columns, one row per event."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Int32, Int64, Objects
from tfprof_nb.formats.protobuf import Messages

StatValue = int | float | str | bytes

_LAST_NS = 4_102_444_800 * 10**9  # the year 2100
_OPTIONS = Messages("message ProfileOptions { uint32 host_tracer_level = 2; uint32 version = 5; }")
_MAX_SUM_PS = 1 << 60  # 320 hours: int64 holds the sum of several hosts


def plausible_ns(time_ns: int) -> int:
    """Return a time in nanoseconds since 1970; 0 in place of one that no capture has."""
    return time_ns if 0 < time_ns < _LAST_NS else 0


@dataclass(frozen=True)
class Plane:
    """One plane: a host's threads (``/host:CPU``) or a device's streams (``/device:GPU:0``)."""

    name: str
    stats: dict[str, StatValue]

    def number(self, stat: str) -> float:
        """Return a stat that is a finite number; 0 if it is none."""
        value = self.stats.get(stat)
        return value if isinstance(value, int | float) and math.isfinite(value) else 0


@dataclass(frozen=True)
class Line:
    """One timeline of a plane: a thread or a stream. Its events are the rows ``first`` to ``last - 1``."""

    plane: int
    id: int
    name: str
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Stat:
    """The values of one stat, for the events that have it.

    Attributes
    ----------
    rows
        The rows of these events, ascending and distinct.
    values
        One value per row: int64 (modulo 2**64), float64, or for text an int32 code.
    categories
        The text of each code; None for numbers.
    """

    rows: Int64
    values: npt.NDArray[np.generic]
    categories: Objects | None = None

    def dense(self, events: int, missing: float = -1) -> npt.NDArray[np.generic]:
        """Return a value for each of ``events`` rows, ``missing`` for events without the stat."""
        column = np.full(events, missing, dtype=self.values.dtype)
        column[self.rows] = self.values
        return column

    def at(self, rows: Int64, missing: float = -1) -> npt.NDArray[np.generic]:
        """Return the values at some rows, ``missing`` for events without the stat."""
        column = np.full(len(rows), missing, dtype=self.values.dtype)
        if len(self.rows):
            place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            found = self.rows[place] == rows
            column[found] = self.values[place[found]]
        return column


class StatSource(Protocol):
    """The source of a host's stats. Each reader of files has its own, so that unread stats cost nothing."""

    def ints(self, stat: str) -> Stat:
        """See `Host.ints`."""

    def floats(self, stat: str) -> Stat:
        """See `Host.floats`."""

    def texts(self, stat: str) -> Stat:
        """See `Host.texts`."""

    def of_row(self, row: int) -> dict[str, StatValue]:
        """See `Host.stats_of`."""

    def names(self) -> list[str]:
        """See `Host.stat_names`."""


@dataclass(frozen=True, eq=False)
class Host:
    """One host's profile as columns.

    Rows are ordered by line, then by start (ascending), then by duration (descending), so that a parent comes before
    its children. Times are int64 picoseconds since the start of the profile. Aggregate events, which have
    ``num_occurrences`` instead of a position, are left out; so are the marks of the thread pool
    (`formats.xspace.THREADPOOL_PREFIX`), nearly half of a usual profile, which no analysis uses. `complete` has these.

    Attributes
    ----------
    name
        The host's key: the file's name without ``.xplane.pb``.
    planes, lines
        The lines of the rows and the planes of the lines; ``lines[i].plane`` indexes ``planes``. Lines of one plane
        with the same id are one line.
    line, metadata, start_ps, duration_ps
        The columns: int32 index into ``lines``, int32 index into ``names``, int64, int64.
    names, display_names
        Object arrays with the full and the short name of events (equal if the file has no short name). Planes do not
        share names, so a name can occur more than once.
    errors, warnings
        Messages that the profiler wrote into the file.
    origin_ns
        Time 0 in nanoseconds since 1970; 0 if the file's times do not count from 1970.
    notes
        What the reader left out or assumed.
    run_starts_ps
        When each run begins, if several runs were put one after another.
    marks, marks_end_ps
        How many marks of the thread pool were left out, and when the last of them was.
    """

    name: str
    planes: tuple[Plane, ...]
    lines: tuple[Line, ...]
    line: Int32
    metadata: Int32
    start_ps: Int64
    duration_ps: Int64
    names: Objects
    display_names: Objects
    _stats: StatSource = field(repr=False)
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    origin_ns: int = 0
    notes: tuple[str, ...] = ()
    run_starts_ps: tuple[int, ...] = ()
    marks: int = 0
    marks_end_ps: int = 0
    _complete: Callable[[], Host] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.start_ps)

    def complete(self) -> Host:
        """Return this host with the marks of the thread pool among its rows: they are read now."""
        return self._complete() if self.marks and self._complete else self

    @property
    def recorded_events(self) -> int:
        """How many events the file has."""
        return len(self) + self.marks

    @property
    def end_ps(self) -> int:
        """When the last event ended, 0 without events."""
        return int((self.start_ps + self.duration_ps).max(initial=self.marks_end_ps))

    @property
    def began_ns(self) -> int:
        """When the profile began, in nanoseconds since 1970; 0 if that is unknown."""
        return plausible_ns(self.origin_ns) or self._environment("profile_start_time")

    @property
    def ended_ns(self) -> int:
        """When the profiler stopped recording, in nanoseconds since 1970; 0 if that is unknown."""
        return self._environment("profile_stop_time")

    @property
    def recorded_ns(self) -> int:
        """For how long the profiler recorded; 0 if that is unknown."""
        began, ended = self._environment("profile_start_time"), self.ended_ns
        return max(ended - began, 0) if began and ended else 0

    @property
    def host_level(self) -> int | None:
        """The ``host_level`` that the file was recorded with; None if it does not say so."""
        from google.protobuf.message import DecodeError

        saved = next((plane.stats["profile_options"] for plane in self.planes if "profile_options" in plane.stats), b"")
        if not isinstance(saved, bytes):
            return None
        try:
            options = _OPTIONS["ProfileOptions"].FromString(saved)
        except DecodeError:
            return None
        return options.host_tracer_level if options.version else None

    def _environment(self, stat: str) -> int:
        return plausible_ns(next((int(plane.number(stat)) for plane in self.planes if stat in plane.stats), 0))

    def ints(self, stat: str) -> Stat:
        """Values of a whole-number stat as int64, modulo 2**64: the same id may be written signed or unsigned.

        Fractions are cut off. Events without the stat, or with text there, have no row. Neither have, here and below,
        the marks of the thread pool in a complete host.
        """
        return self._stats.ints(stat)

    def floats(self, stat: str) -> Stat:
        """Values of a numeric stat as float64."""
        return self._stats.floats(stat)

    def texts(self, stat: str) -> Stat:
        """Values of a text stat (strings and references) as codes into ``categories``."""
        return self._stats.texts(stat)

    def stats_of(self, row: int) -> dict[str, StatValue]:
        """All stats of one event, including those of its metadata."""
        return self._stats.of_row(row)

    def stat_names(self) -> list[str]:
        """The names of the events' stats."""
        return self._stats.names()


def cut_lengths(duration_ps: Int64) -> tuple[str, ...]:
    """Cut durations, in place, if their sum is one that no capture has; return a note on that."""
    if duration_ps.sum(dtype=np.float64) <= _MAX_SUM_PS:
        return ()
    longest = _MAX_SUM_PS // duration_ps.size
    cut = int((duration_ps > longest).sum())
    np.minimum(duration_ps, longest, out=duration_ps)
    return (f"{cut:,} events are so long that all events together last for weeks. They are shown cut.",)
