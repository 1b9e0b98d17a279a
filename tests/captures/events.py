"""The events of a profile as columns, which compress to a tenth of the file, and the file made of them again.

What changes: times are rounded down to 10 µs. Which event lies in which stays as it was: starts and ends within the
same 10 µs follow one another at a distance of a nanosecond. Ids that only link events, most of which are random, are
numbered from 1 as they occur in time. Everything else is what the profiler wrote.
"""

from itertools import chain

import numpy as np

from xplane_messages import XSpace

PS_PER_NS = 1000
TICK_NS = 10_000
# Stats of which only equality counts.
LINKS = ("id", "parent_id", "element_id", "step_id", "addr", "_p", "_c", "correlation_id")
DOUBLE, UINT, INT, TEXT, REF = 2, 3, 4, 5, 7  # numbers of the fields that hold a stat's value
FIELDS = {"double_value": DOUBLE, "uint64_value": UINT, "int64_value": INT, "str_value": TEXT, "ref_value": REF}
OF_EVENTS = ("name", "until", "shape", "ticks", "crossing")


def to_columns(file):
    """Take a profile apart: all but its events, as a file, and columns of events, by name."""
    space = XSpace.FromString(file)
    events, counts, values, starts, texts, shapes = [], [], {}, {}, {}, {}
    for number, plane in enumerate(space.planes):
        for line in plane.lines:
            own = sorted(line.events, key=lambda event: (event.offset_ps, -event.duration_ps))
            counts.append(len(own))
            begin = line.timestamp_ns // TICK_NS
            start, length = (
                np.array([getattr(event, name) for event in own], np.int64) // PS_PER_NS
                for name in ("offset_ps", "duration_ps")
            )
            start += line.timestamp_ns
            names = np.array([event.metadata_id for event in own], np.int64)
            until = np.maximum(np.searchsorted(start, start + length) - np.arange(len(own)), 1)
            shape = np.empty(len(own), np.int64)
            for k, event in enumerate(own):
                stats = [(stat.metadata_id, *_value(plane, stat, texts)) for stat in event.stats]
                for key, kind, value in stats:
                    values.setdefault((number, key, kind), []).append(value)
                    starts.setdefault((number, key, kind), []).append(int(start[k]))
                shape[k] = shapes.setdefault((number, *((key, kind) for key, kind, _ in stats)), len(shapes))
            times = np.append(start, start + length)
            order = _order(until, times)
            ticks = np.diff(times[order] // TICK_NS, prepend=begin)
            events.append((names, until, shape, ticks, order - _order(until)))
            line.timestamp_ns = begin * TICK_NS
            del line.events[:]
    _number_links(space, values, starts)
    none = (np.empty(0, np.int64),) * len(OF_EVENTS)  # for a profile without lines
    parts = zip(*(none, *events), strict=True)
    columns = {name: np.concatenate(own) for name, own in zip(OF_EVENTS, parts, strict=True)}
    columns["count"] = np.array(counts, np.int64)
    flat = [[2 * len(stats) + 1, number, *chain(*stats)] for number, *stats in shapes]
    columns["shapes"] = np.array([*chain(*flat)], np.int64)
    columns["texts"] = np.array([*texts], str) if texts else np.empty(0, "U1")
    for (plane, key, kind), found in values.items():
        column = np.array(found, np.float64 if kind == DOUBLE else np.int64)
        columns[f"stat {plane} {key} {kind}"] = column if kind == DOUBLE else np.diff(column, prepend=0)
    return space.SerializeToString(deterministic=True), columns


def _value(plane, stat, texts):
    """Return the kind of a stat's value, and the value; of a text, its number in ``texts``."""
    field = stat.WhichOneof("choice")
    value, kind = getattr(stat, field), FIELDS[field]
    if kind == TEXT:
        value = texts.setdefault(value, len(texts))
    elif kind == UINT and plane.stat_metadata[stat.metadata_id].name in LINKS:
        kind = INT
    return kind, value


def _number_links(space, values, starts):
    """Number what links events, in place, by the time of the first event that has it; 0 stays."""
    links = [
        (plane, key, kind)
        for plane, key, kind in values
        if kind == INT and space.planes[plane].stat_metadata[key].name in LINKS
    ]
    every = [number & (1 << 64) - 1 for own in links for number in values[own]]
    ids, first = np.unique(np.array([0, *every], np.uint64), return_inverse=True)
    times = np.array([-1, *(start for own in links for start in starts[own])])
    begun = np.full(len(ids), np.iinfo(np.int64).max)
    np.minimum.at(begun, first, times)
    numbers = np.empty(len(ids), np.int64)
    numbers[np.argsort(begun, kind="stable")] = np.arange(len(ids))
    numbered, done = numbers[first], 1
    for own in links:
        values[own] = numbered[done : done + len(values[own])]
        done += len(values[own])


def to_file(space, columns):
    """Make a file of what `to_columns` returned."""
    space = XSpace.FromString(space)
    bounds = np.cumsum(np.append(0, columns["count"]))
    shapes, texts = _shapes(columns["shapes"]), columns["texts"].tolist()
    planes, line_number = [], 0
    for number, plane in enumerate(space.planes):
        lines, first = list(plane.lines), line_number
        times = []
        for _ in lines:
            begin, end = bounds[line_number : line_number + 2]
            both = slice(2 * begin, 2 * end)
            times.append(_times(columns["until"][begin:end], columns["ticks"][both], columns["crossing"][both]))
            line_number += 1
        del plane.lines[:]
        first_text = max(plane.stat_metadata, default=0) + 1
        for k, text in enumerate(texts):
            entry = plane.stat_metadata[first_text + k]
            entry.id, entry.name = first_text + k, text
        message = plane.SerializeToString()
        if lines:
            own = slice(bounds[first], bounds[line_number])
            values = {}
            for name, column in columns.items():
                if name.startswith(f"stat {number} "):
                    _, key, kind = map(int, name.split()[1:])
                    values[key, kind] = column if kind == DOUBLE else np.cumsum(column) + first_text * (kind == TEXT)
            start_ps, length_ps = (PS_PER_NS * np.concatenate(parts) for parts in zip(*times, strict=True))
            shape = columns["shape"][own]
            written, at = _events(columns["name"][own], start_ps, length_ps, shape, shapes, values)
            ends = at[bounds[first : line_number + 1] - bounds[first]]
            for line, begin, end in zip(lines, ends[:-1], ends[1:], strict=True):
                message += _field(3, line.SerializeToString() + written[begin:end])
        planes.append(_field(1, message))
    del space.planes[:]
    return b"".join(planes) + space.SerializeToString()


def _shapes(flat):
    """Return the stats, as pairs of key and kind, of each shape."""
    shapes, at = [], 0
    while at < len(flat):
        _, *pairs = flat[at + 1 : at + 1 + flat[at]].tolist()
        shapes.append(list(zip(pairs[::2], pairs[1::2], strict=True)))
        at += 1 + int(flat[at])
    return shapes


def _order(until, times=None):
    """Return the order of all starts and, after them, all ends.

    Before the start of the event ``until`` places further on, an event ends. Of several that end there, the last one
    that began does so first; with ``times``, the one that ended first.
    """
    count = len(until)
    number = np.arange(count)
    place = np.append(number, np.minimum(number + until, count))
    within = [np.append(number, -number)] if times is None else [np.append(number, -number), times]
    return np.lexsort((*within, np.repeat([1, 0], count), place))


def _times(until, ticks, crossing):
    """Return when events start, since their line began, and their lengths, in nanoseconds."""
    ticks = np.cumsum(ticks)
    times = np.empty(len(ticks), np.int64)
    times[_order(until) + crossing] = TICK_NS * ticks + np.arange(len(ticks)) - np.searchsorted(ticks, ticks)
    start, end = np.split(times, 2)
    return start, end - start


def _events(names, start_ps, length_ps, shape, shapes, values):
    """Return the messages of a plane's events one after another, and where each begins and the last ends."""
    groups = []
    size = np.zeros(len(names), np.int64)
    rows_of = np.split(np.argsort(shape, kind="stable"), np.cumsum(np.bincount(shape, minlength=len(shapes)))[:-1])
    rows_with = {
        own: np.sort(np.concatenate([rows for rows, one in zip(rows_of, shapes, strict=True) if own in one]))
        for own in values
    }
    for number, rows in enumerate(rows_of):
        if not len(rows):
            continue
        parts = [*_number(1, names[rows]), *_number(2, start_ps[rows]), *_number(3, length_ps[rows])]
        for key, kind in shapes[number]:
            value = values[key, kind][np.searchsorted(rows_with[key, kind], rows)]
            stat = [
                *_number(1, np.full(len(rows), key)),
                *(_double(value) if kind == DOUBLE else _number(REF if kind == TEXT else kind, value)),
            ]
            parts += _message(4, stat, len(rows))
        groups.append((rows, *_joined(_message(4, parts, len(rows)))))
        size[rows] = groups[-1][2]
    at = np.cumsum(np.append(0, size))
    written = np.empty(at[-1], np.uint8)
    for rows, data, sizes in groups:
        within = np.arange(len(data)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        written[np.repeat(at[rows], sizes) + within] = data
    return written.tobytes(), at


def _tag(number, wire, count):
    return np.full((count, 1), number << 3 | wire, np.uint8), np.ones((count, 1), bool)


def _number(number, values):
    """Return a field with a number per row: bytes, and which of them count."""
    return [_tag(number, 0, len(values)), _varint(values)]


def _double(values):
    data = np.ascontiguousarray(values, "<f8").view(np.uint8).reshape(-1, 8)
    return [_tag(DOUBLE, 1, len(values)), (data, np.ones(data.shape, bool))]


def _message(number, parts, count):
    size = sum(counts.sum(1) for _, counts in parts)
    return [_tag(number, 2, count), _varint(size), *parts]


def _varint(values):
    left = np.asarray(values, np.int64).view(np.uint64)
    width = max(1, -(-int(left.max(initial=0)).bit_length() // 7))
    data, counts = np.empty((len(left), width), np.uint8), np.ones((len(left), width), bool)
    for place in range(width):
        if place:
            np.not_equal(left, 0, out=counts[:, place])
        data[:, place] = left & np.uint64(0x7F)
        left = left >> np.uint64(7)
        data[:, place] |= (left != 0).view(np.uint8) << 7
    return data, counts


def _joined(parts):
    """Return the bytes that count, row after row, and how many each row has."""
    counts = np.hstack([counts for _, counts in parts])
    return np.hstack([data for data, _ in parts])[counts], counts.sum(1)


def _field(number, message):
    """Return a message as a field of another."""
    (data, _) = _joined([_tag(number, 2, 1), _varint(np.array([len(message)]))])
    return data.tobytes() + message
