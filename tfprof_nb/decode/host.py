"""The decoded form of one host's profile: columns, one row per event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Int32, Int64, Objects

StatValue = int | float | str | bytes


@dataclass(frozen=True)
class Plane:
    """One plane: a host's threads (``/host:CPU``) or a device's streams (``/device:GPU:0``)."""

    name: str
    stats: dict[str, StatValue]


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
    """The values of one stat, for the events that carry it.

    Attributes
    ----------
    rows
        Event rows, ascending, each at most once.
    values
        One value per row: int64 (taken modulo 2**64), float64, or for text an int32 code.
    categories
        For text, the string of each code; None for numbers.
    """

    rows: Int64
    values: npt.NDArray[np.generic]
    categories: Objects | None = None

    def dense(self, events: int, missing: float = -1) -> npt.NDArray[np.generic]:
        """Spread the values over all ``events`` rows, with ``missing`` where an event has none."""
        column = np.full(events, missing, dtype=self.values.dtype)
        column[self.rows] = self.values
        return column

    def at(self, rows: Int64, missing: float = -1) -> npt.NDArray[np.generic]:
        """Return the values at some rows, with ``missing`` where an event has none."""
        column = np.full(len(rows), missing, dtype=self.values.dtype)
        if len(self.rows):
            place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            found = self.rows[place] == rows
            column[found] = self.values[place[found]]
        return column


class StatSource(Protocol):
    """Where a host's stats come from: given by the reader of its file, so that unread stats cost nothing."""

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

    Rows are ordered by line, then by start (ascending), then by duration (descending), so a parent comes before
    its children. Times are int64 picoseconds since the start of the profile. Aggregate events (those with
    ``num_occurrences`` and no position) are left out.

    Attributes
    ----------
    name
        The host's key: the file's name without ``.xplane.pb``.
    planes, lines
        What the rows belong to; ``lines[i].plane`` indexes ``planes``. Lines of one plane that share an id are one.
    line, metadata, start_ps, duration_ps
        The columns: int32 index into ``lines``, int32 index into ``names``, int64, int64.
    names, display_names
        Object arrays with the event's full name and its short one (equal to the name where the file has none). Planes
        do not share their names, so a name can occur more than once.
    errors, warnings
        What the profiler itself wrote into the file.
    origin_ns
        Nanoseconds since 1970 of time 0, where the file tells times since 1970; 0 where they count from its start.
    notes
        What the reader left out of the file, or had to assume.
    run_starts_ps
        When each run begins, where several were put one after another.
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

    def __len__(self) -> int:
        return len(self.start_ps)

    @property
    def began_ns(self) -> int:
        """When the profile's time began, in nanoseconds since 1970; 0 where the file does not tell."""
        return self.origin_ns or self._environment("profile_start_time")

    @property
    def ended_ns(self) -> int:
        """When the profiler stopped recording, in nanoseconds since 1970; 0 where the file does not tell."""
        return self._environment("profile_stop_time")

    def _environment(self, stat: str) -> int:
        return next((int(plane.stats[stat]) for plane in self.planes if stat in plane.stats), 0)

    def ints(self, stat: str) -> Stat:
        """Values of a whole-number stat as int64, modulo 2**64: the same id may be written signed or unsigned.

        Fractions are cut off. Events that have no such stat, or text there, have no row; nor have, here and below, the
        marks of the thread pool (``ThreadpoolListener::``), nearly half of a usual profile.
        """
        return self._stats.ints(stat)

    def floats(self, stat: str) -> Stat:
        """Values of a numeric stat as float64."""
        return self._stats.floats(stat)

    def texts(self, stat: str) -> Stat:
        """Values of a text stat (strings and references alike) as codes into ``categories``."""
        return self._stats.texts(stat)

    def stats_of(self, row: int) -> dict[str, StatValue]:
        """Every stat of one event, those of its metadata included."""
        return self._stats.of_row(row)

    def stat_names(self) -> list[str]:
        """Names that the events' stats may have."""
        return self._stats.names()
