"""Read the events of an XSpace's lines as columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Bools, Int32, Int64
from tfprof_nb.decode import schema
from tfprof_nb.decode.alike import equal_bytes
from tfprof_nb.decode.files import check_room
from tfprof_nb.decode.lanes import find_fields
from tfprof_nb.decode.metadata import Metadata
from tfprof_nb.decode.parts import Parts
from tfprof_nb.decode.wire import Fields, Places, Wire

_BLOCK = 1 << 14
# No capture is longer: such times are damage, and sums of them would overflow.
MAX_START_PS = 1 << 60  # 13 days
_EVENT_BYTES = 250  # of memory per event, to load and analyse it
# Nearly all events begin with these fields in this order; their stats follow.
_IN_ORDER = (schema.EVENT_METADATA, schema.EVENT_OFFSET_PS, schema.EVENT_DURATION_PS)


class Events(NamedTuple):
    """Events as columns.

    ``line`` is the line's number in the file, ``plane`` the plane whose names the event uses, ``metadata`` the row of
    its metadata. ``start_ps`` counts from the line's timestamp. The stats of an event are within the ``size`` bytes
    from position ``begin`` on. Events with equal stats mostly share the position of one of them.
    """

    line: Int32
    plane: npt.NDArray[np.uint16]
    metadata: Int32
    start_ps: Int64
    duration_ps: Int64
    begin: Places
    size: Int32

    def take(self, index: Int64 | slice) -> Events:
        """Return the events at these indices."""
        return Events(
            self.line[index],
            self.plane[index],
            self.metadata[index],
            self.start_ps[index],
            self.duration_ps[index],
            self.begin[index],
            self.size[index],
        )

    def without(self, first: int, last: int) -> Events:
        """Return the events but those from ``first`` to before ``last``: what follows these moves, in place."""
        kept = self.line.size - (last - first)
        columns: tuple[npt.NDArray[Any], ...] = self
        for column in columns:
            column[first:kept] = column[last:]
        return self.take(slice(kept))

    def fill(self, first: int, events: Events) -> None:
        """Overwrite the rows from ``first`` on with other events."""
        columns: tuple[npt.NDArray[Any], ...] = self
        found: tuple[npt.NDArray[Any], ...] = events
        for column, values in zip(columns, found, strict=True):
            column[first : first + values.size] = values


class Marks(NamedTuple):
    """The events that were left out, by the number of their line: how many, and when the last of them starts."""

    counts: Int64
    last_ps: Int64

    def add(self, line: Int32, start_ps: Int64) -> None:
        """Count more events, given in the order of their lines."""
        if line.size:
            first = np.flatnonzero(np.diff(line, prepend=-1))
            self.counts[line[first]] += np.diff(first, append=line.size)
            self.last_ps[line[first]] = np.maximum(self.last_ps[line[first]], np.maximum.reduceat(start_ps, first))


def read_lines(wire: Wire, lines: Parts, names: Metadata, left_out: Bools) -> tuple[Events, Marks, Parts]:
    """Read the events of all lines, and the other fields of the lines, by the line's number.

    Parameters
    ----------
    lines
        The lines' messages, by plane.
    left_out
        Per row of the metadata: whether such events are only counted, if they have no length.
    """
    places = find_fields(wire, lines.fields.start, lines.fields.stop)
    check_room(places.size * _EVENT_BYTES, wire.name)
    counts = np.diff(np.searchsorted(places, np.append(lines.fields.start, wire.size)))
    line = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
    kept: list[Any] = [np.int32, np.uint16, np.int32, np.int64, np.int64, wire.place_type, np.int32]
    events = Events(*(np.empty(places.size, kind) for kind in kept))
    marks = Marks(np.zeros(counts.size, np.int64), np.zeros(counts.size, np.int64))
    filled, headers = 0, []
    # At least one block, so that a file without lines gives empty columns.
    for first in range(0, max(1, places.size), _BLOCK):
        block = slice(first, first + _BLOCK)
        fields = wire.read(places[block])
        is_event = fields.tag == schema.LINE_EVENT
        others = np.flatnonzero(~is_event)
        headers.append((line[block][others], *fields.take(others)))
        messages = fields.take(np.flatnonzero(is_event)) if others.size else fields
        found = _read_block(wire, messages, line[block][is_event], lines.owner, names, left_out, marks)
        events.fill(filled, found)
        filled += found.line.size
    of_line, *header = (np.concatenate(parts) for parts in zip(*headers, strict=True))
    return events.take(slice(filled)), marks, Parts(of_line, Fields(*header))


def _read_block(
    wire: Wire, messages: Fields, line: Int32, plane: Int64, names: Metadata, left_out: Bools, marks: Marks
) -> Events:
    """Read the events of some messages, without aggregates (a number of occurrences instead of an offset).

    ``line`` is the line of each message, ``plane`` the plane of each line. What is left out is added to ``marks``.
    """
    columns = {tag: np.zeros(messages.at.size, np.int64) for tag in _IN_ORDER}
    at, end = messages.start.copy(), messages.stop
    for tag, column in columns.items():
        index, value = wire.take_next(at, end, tag)
        column[index] = value.view(np.int64)
    own = plane[line]
    key, offset, duration = columns.values()
    is_mark = left_out[names.rows(own, key)]
    if is_mark.any():
        # An event of any other form is read like all others.
        is_mark &= (offset >= 0) & (offset <= MAX_START_PS) & (duration == 0)
        is_mark &= (at == end) | (wire.bytes[np.minimum(at, wire.size - 1)] == schema.EVENT_STAT)
        marks.add(line[is_mark], offset[is_mark])
        others = np.flatnonzero(~is_mark)
        at, end, line, own = at[others], end[others], line[others], own[others]
        columns = {tag: column[others] for tag, column in columns.items()}
    size = end - at
    alike = equal_bytes(wire, at, size, own)
    begin = at[alike]
    distinct = np.flatnonzero(alike == np.arange(alike.size))
    after, until = at[distinct], end[distinct]
    for _ in wire.take_run(after, until, schema.EVENT_STAT):
        pass
    has_others = np.zeros(alike.size, bool)
    has_others[distinct[after < until]] = True
    rest = np.flatnonzero(has_others[alike])
    aggregate = np.zeros(alike.size, bool)
    for event, fields in wire.walk(at[rest], end[rest]):
        for tag, hit in fields.by_tag():
            if tag in columns:
                columns[tag][rest[event[hit]]] = fields.value[hit].view(np.int64)
        # If there are both an offset and occurrences, the last one counts.
        hit = np.flatnonzero((fields.tag == schema.EVENT_OCCURRENCES) | (fields.tag == schema.EVENT_OFFSET_PS))
        aggregate[rest[event[hit]]] = fields.tag[hit] == schema.EVENT_OCCURRENCES
    key, offset, duration = columns.values()
    metadata = names.rows(own, key).astype(np.int32)
    place: Places = begin.astype(wire.place_type)
    extent = size.astype(np.int32)
    events = Events(line, own.astype(np.uint16), metadata, offset, duration, place, extent)
    return events.take(np.flatnonzero(~aggregate)) if aggregate.any() else events


def in_order(events: Events) -> Events:
    """Return events sorted by line, then by start, then the longest first."""
    line, start, duration = events.line, events.start_ps, events.duration_ps
    later = start[1:] > start[:-1]
    later &= line[1:] == line[:-1]
    later |= line[1:] > line[:-1]
    tied = np.flatnonzero(~later)
    after = tied + 1
    in_place = (line[after] == line[tied]) & (start[after] == start[tied]) & (duration[after] <= duration[tied])
    return events if in_place.all() else events.take(np.lexsort((-duration, start, line)))
