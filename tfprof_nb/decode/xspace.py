"""Read XSpace (``*.xplane.pb``), the format of TensorFlow's, JAX's and XLA's profiles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof_nb._errors import BadProfileError

from . import schema
from .host import Host, Int32, Int64, Line, Plane
from .lanes import find_fields
from .metadata import Metadata
from .stats import FileStats, python_values, read_values
from .wire import Data, Fields, Wire

_BLOCK = 1 << 14
_EPOCH_NS = 10**15


def read_xspace(data: Data, name: str, source: str = "") -> Host:
    """Decode one host's profile.

    Times are those of the file: a line's timestamp plus an event's offset. Where timestamps count from 1970 (more than
    10**15 ns, which picoseconds in int64 could not hold), the earliest is subtracted and told in ``Host.origin_ns``.
    Stats are decoded when first asked for, so ``data`` has to stay as it is.

    Parameters
    ----------
    data
        The file's bytes; a memory map keeps the peak memory low.
    name
        The host's key.
    source
        What messages call the file; ``name`` when not given.

    Raises
    ------
    BadProfileError
        The data is empty, cut short, or no XSpace.
    """
    if not len(data):
        raise BadProfileError(f"{source or name}: the file is empty. The capture did not finish: capture again.")
    return _read(Wire(data, source or name), name)


class _Events(NamedTuple):
    """The columns of all events; ``begin`` and ``size`` tell where an event's stats lie. Lines are not merged yet."""

    line: Int32
    metadata: Int32
    start_ps: Int64
    duration_ps: Int64
    begin: Int64
    size: Int32

    def take(self, index: Int64 | slice) -> _Events:
        return _Events(
            self.line[index],
            self.metadata[index],
            self.start_ps[index],
            self.duration_ps[index],
            self.begin[index],
            self.size[index],
        )


class _Lines(NamedTuple):
    """What the file says of each line."""

    plane: Int64
    id: Int64
    name: npt.NDArray[np.object_]
    timestamp_ns: Int64


def _read(wire: Wire, name: str) -> Host:
    space = wire.read(wire.chain(0, wire.size))
    if not np.isin(space.tag, schema.SPACE_TAGS).any():
        raise wire.malformed(0)
    plane, parts = _parts(wire, space.where(schema.SPACE_PLANE))
    stat_metadata = Metadata(wire, *_of_tag(plane, parts, schema.PLANE_STAT_METADATA))
    event_metadata = Metadata(wire, *_of_tag(plane, parts, schema.PLANE_EVENT_METADATA))
    line_plane, messages = _of_tag(plane, parts, schema.PLANE_LINE)
    events, headers = _read_events(wire, messages, line_plane, event_metadata)
    headed = _headers(wire, line_plane, headers)
    origin_ns = _place(events, headed)
    lines, events = _in_order(events, headed)
    names = event_metadata.names
    short = event_metadata.texts(wire, schema.METADATA_DISPLAY_NAME)
    row_plane = np.array([line.plane for line in lines], np.int32)[events.line]
    return Host(
        name=name,
        planes=_planes(wire, space.where(schema.SPACE_PLANE).at.size, plane, parts, stat_metadata),
        lines=lines,
        line=events.line,
        metadata=events.metadata,
        start_ps=events.start_ps,
        duration_ps=events.duration_ps,
        names=names,
        display_names=np.where(short == "", names, short),
        errors=_texts(wire, space.where(schema.SPACE_ERROR)),
        warnings=_texts(wire, space.where(schema.SPACE_WARNING)),
        origin_ns=origin_ns,
        _stats=FileStats(wire, stat_metadata, event_metadata, row_plane, events.metadata, events.begin, events.size),
    )


def _texts(wire: Wire, fields: Fields) -> tuple[str, ...]:
    return tuple(
        wire.text(start, stop) for start, stop in zip(fields.start.tolist(), fields.stop.tolist(), strict=True)
    )


def _of_tag(owner: Int64, fields: Fields, tag: int) -> tuple[Int64, Fields]:
    return owner[fields.tag == tag], fields.where(tag)


def _parts(wire: Wire, messages: Fields) -> tuple[Int64, Fields]:
    """Return all fields of a few messages, each with its message's number."""
    places = [wire.chain(*span) for span in zip(messages.start.tolist(), messages.stop.tolist(), strict=True)]
    owner = np.repeat(np.arange(len(places)), [place.size for place in places])
    return owner, wire.read(np.concatenate([np.empty(0, np.int64), *places]))


def _planes(wire: Wire, count: int, plane: Int64, parts: Fields, stat_metadata: Metadata) -> tuple[Plane, ...]:
    names = _last_text(wire, count, *_of_tag(plane, parts, schema.PLANE_NAME))
    owner, stats = _of_tag(plane, parts, schema.PLANE_STAT)
    values = read_values(wire, stats.start, stats.stop, owner)
    return tuple(
        Plane(names[i], python_values(wire, stat_metadata, i, values.take(np.flatnonzero(values.owner == i))))
        for i in range(count)
    )


def _last_text(wire: Wire, count: int, owner: Int64, fields: Fields) -> npt.NDArray[np.object_]:
    """Return the text of each owner's last field, empty where it has none."""
    texts = np.full(count, "", object)
    texts[owner] = np.array(_texts(wire, fields), object)
    return texts


def _last_number(count: int, owner: Int64, fields: Fields) -> Int64:
    """Return the number in each owner's last field, 0 where it has none."""
    numbers = np.zeros(count, np.int64)
    numbers[owner] = fields.value.view(np.int64)
    return numbers


def _read_events(wire: Wire, lines: Fields, plane: Int64, names: Metadata) -> tuple[_Events, tuple[Int64, Fields]]:
    """Read all lines' events, block by block; return them and the lines' other fields with their line's index."""
    places = find_fields(wire, lines.start, lines.stop)
    counts = np.diff(np.searchsorted(places, np.append(lines.start, wire.size)))
    line = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
    columns = _Events(*(np.empty(places.size, dtype) for dtype in (np.int32, np.int32, *[np.int64] * 3, np.int32)))
    filled, others = 0, [(np.empty(0, np.int64), wire.read(places[:0]))]
    for first in range(0, places.size, _BLOCK):
        block = slice(first, first + _BLOCK)
        fields = wire.read(places[block])
        is_event = fields.tag == schema.LINE_EVENT
        other = np.flatnonzero(~is_event)
        others.append((line[block][other], fields.take(other)))
        events = _read_block(wire, fields.take(np.flatnonzero(is_event)), line[block][is_event], plane, names)
        for column, values in zip(columns, events, strict=True):
            column[filled : filled + values.size] = values
        filled += events.line.size
    owners, rest = zip(*others, strict=True)
    header = Fields(*(np.concatenate(parts) for parts in zip(*rest, strict=True)))
    return columns.take(slice(filled)), (np.concatenate(owners), header)


def _read_block(wire: Wire, messages: Fields, line: Int32, plane: Int64, names: Metadata) -> _Events:
    """Read events; aggregates, which have a number of occurrences in place of an offset, are left out."""
    count = messages.at.size
    key, offset, duration = np.zeros((3, count), np.int64)
    aggregate = np.zeros(count, bool)
    begin = messages.stop.copy()
    for owner, fields in wire.walk(messages.start, messages.stop):
        for tag, column in (
            (schema.EVENT_METADATA, key),
            (schema.EVENT_OFFSET_PS, offset),
            (schema.EVENT_DURATION_PS, duration),
        ):
            hit = np.flatnonzero(fields.tag == tag)
            column[owner[hit]] = fields.value[hit].view(np.int64)
            if tag == schema.EVENT_OFFSET_PS:
                aggregate[owner[hit]] = False
        aggregate[owner[fields.tag == schema.EVENT_OCCURRENCES]] = True
        hit = np.flatnonzero(fields.tag == schema.EVENT_STAT)
        begin[owner[hit]] = np.minimum(begin[owner[hit]], fields.at[hit])
    metadata = names.rows(plane[line], key).astype(np.int32)
    events = _Events(line, metadata, offset, duration, begin, (messages.stop - begin).astype(np.int32))
    return events.take(np.flatnonzero(~aggregate)) if aggregate.any() else events


def _headers(wire: Wire, plane: Int64, header: tuple[Int64, Fields]) -> _Lines:
    """Return the lines' headers, with the ids and names to show where there are such."""
    count = plane.size
    line_id, display_id, timestamp_ns = (
        _last_number(count, *_of_tag(*header, tag))
        for tag in (schema.LINE_ID, schema.LINE_DISPLAY_ID, schema.LINE_TIMESTAMP_NS)
    )
    name, display_name = (
        _last_text(wire, count, *_of_tag(*header, tag)) for tag in (schema.LINE_NAME, schema.LINE_DISPLAY_NAME)
    )
    return _Lines(
        plane, np.where(display_id, display_id, line_id), np.where(display_name == "", name, display_name), timestamp_ns
    )


def _place(events: _Events, lines: _Lines) -> int:
    """Add the lines' timestamps to the events' offsets, in place; return the nanoseconds subtracted from them."""
    used = lines.timestamp_ns[np.unique(events.line)]
    since_1970 = lines.timestamp_ns > _EPOCH_NS
    origin_ns = int(used[used > _EPOCH_NS].min(initial=2**63 - 1)) if (used > _EPOCH_NS).any() else 0
    timestamp_ns = np.where(since_1970, lines.timestamp_ns - origin_ns, lines.timestamp_ns)
    events.start_ps[:] += 1000 * timestamp_ns[events.line]
    return origin_ns


def _in_order(events: _Events, lines: _Lines) -> tuple[tuple[Line, ...], _Events]:
    """Merge lines of one plane and id, and sort the events."""
    keys = list(zip(lines.plane.tolist(), lines.id.tolist(), strict=True))
    merged = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    if len(merged) < len(keys):
        events.line[:] = np.array([merged[key] for key in keys], np.int32)[events.line]
    events = _sorted(events)
    ends = np.searchsorted(events.line, np.arange(len(merged)), "right").tolist()
    names = dict(zip(reversed(keys), reversed(lines.name), strict=True))
    return tuple(
        Line(plane, line_id, names[plane, line_id], first, last)
        for (plane, line_id), first, last in zip(merged, [0, *ends], ends, strict=False)
    ), events


def _sorted(events: _Events) -> _Events:
    line, start, duration = events.line, events.start_ps, events.duration_ps
    same, ahead = line[1:] == line[:-1], start[1:] - start[:-1]
    in_order = same & ((ahead > 0) | (ahead == 0) & (duration[1:] <= duration[:-1])) | (line[1:] > line[:-1])
    return events if in_order.all() else events.take(np.lexsort((-duration, start, line)))
