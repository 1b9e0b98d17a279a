"""Read XSpace (``*.xplane.pb``), the format of TensorFlow's, JAX's and XLA's profiles."""

from functools import partial

import numpy as np

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb._errors import BadProfileError
from tfprof_nb._units import PS_PER_NS, PS_PER_US
from tfprof_nb.decode import schema
from tfprof_nb.decode.events import MAX_START_PS, Events, Marks, in_order, read_lines
from tfprof_nb.decode.host import Host, Line, Plane, cut_lengths
from tfprof_nb.decode.metadata import Metadata
from tfprof_nb.decode.parts import Parts, read_parts, read_texts
from tfprof_nb.decode.stats import FileStats, python_values, read_values
from tfprof_nb.decode.wire import Data, Wire
from tfprof_nb.formats.xspace import DISPATCH, HOST_PLANE, LOOK, THREADPOOL_PREFIX

_EPOCH_NS = 10**15
_MAX_LENGTH_PS = 1 << 56  # 20 hours; see `MAX_START_PS`
_MAX_PLANES = 1 << 16  # a host has a plane per device and a few more
# Planes of other tracers, whose events belong to the host's threads. TensorFlow merges them when it saves a profile.
_TRACER_PLANES = ("/host:CUPTI", "/host:ROCTRACER", "/host:python-tracer", "/host:TPU-runtime")


def read_xspace(data: Data, name: str, source: str = "") -> Host:
    """Decode one host's profile.

    Times are those of the file: a line's timestamp plus an event's offset. If timestamps count from 1970 (above
    10**15 ns, which int64 cannot hold in picoseconds), the earliest is subtracted, and stored in ``Host.origin_ns``.
    Stats are decoded when they are first needed, so ``data`` must not change.

    Parameters
    ----------
    data
        The file's bytes; a memory map keeps peak memory low.

    Raises
    ------
    BadProfileError
        The data is empty, cut short, or not an XSpace.

    Notes
    -----
    Times that no capture has are clipped, and counted in ``Host.notes``.
    """
    if not len(data):
        raise BadProfileError(f"{source or name}: the file is empty. The capture did not finish: capture again.")
    return _read(Wire(data, source or name), name, complete=False)


def _read(wire: Wire, name: str, *, complete: bool) -> Host:
    space = wire.read(wire.chain(0, wire.size, most=_MAX_PLANES))
    if not np.isin(space.tag, schema.SPACE_TAGS).any():
        raise wire.malformed(0)
    planes = read_parts(wire, space.where(schema.SPACE_PLANE))
    stat_metadata = Metadata(wire, planes.where(schema.PLANE_STAT_METADATA))
    event_metadata = Metadata(wire, planes.where(schema.PLANE_EVENT_METADATA))
    line_messages = planes.where(schema.PLANE_LINE)
    marks_names = [not complete and name.startswith(THREADPOOL_PREFIX) for name in event_metadata.names]
    events, marks, headers = read_lines(wire, line_messages, event_metadata, np.array(marks_names, bool))
    events = _without_looks(events, marks, event_metadata.names)
    count = space.where(schema.SPACE_PLANE).at.size
    threads_of = _planes_of_threads(planes.texts(schema.PLANE_NAME, count, wire))
    lines, events, origin_ns, marks_end_ps, notes = _arrange(
        wire, threads_of[line_messages.owner], headers, events, marks
    )
    display_names = event_metadata.texts(wire, schema.METADATA_DISPLAY_NAME)
    return Host(
        name=name,
        planes=_planes(wire, planes, count, stat_metadata),
        lines=lines,
        line=events.line,
        metadata=events.metadata,
        start_ps=events.start_ps,
        duration_ps=events.duration_ps,
        names=event_metadata.names,
        display_names=np.where(display_names == "", event_metadata.names, display_names),
        errors=tuple(read_texts(wire, space.where(schema.SPACE_ERROR))),
        warnings=tuple(read_texts(wire, space.where(schema.SPACE_WARNING))),
        origin_ns=origin_ns,
        notes=notes,
        marks=int(marks.counts.sum()),
        marks_end_ps=marks_end_ps,
        _complete=partial(_read, wire, name, complete=True),
        _stats=FileStats(wire, stat_metadata, event_metadata, events.plane, events.metadata, events.begin, events.size),
    )


def _without_looks(events: Events, marks: Marks, names: Objects) -> Events:
    """Leave out threads that ran nothing but the question how long a pipeline waits: a live line asks that.

    Changes ``events`` and ``marks`` in place.
    """
    looks = np.flatnonzero(names == LOOK)
    if not looks.size:
        return events
    ops = np.flatnonzero([str(name).startswith(DISPATCH) and name != LOOK for name in names])
    looking, working = (np.unique(events.line[np.isin(events.metadata, some)]) for some in (looks, ops))
    away = np.setdiff1d(looking, working)
    marks.counts[away] = 0
    for line in away.tolist():  # a line's events stand together
        first, last = np.searchsorted(events.line, (line, line + 1)).tolist()
        events = events.without(first, last)
    return events


def _planes_of_threads(names: Objects) -> Int64:
    """Return for each plane, by its name, the number of the plane that its lines belong to."""
    planes = np.arange(names.size)
    hosts = np.flatnonzero(names == HOST_PLANE)
    if hosts.size:
        planes[np.isin(names, _TRACER_PLANES)] = hosts[0]
    return planes


def _planes(wire: Wire, parts: Parts, count: int, stat_metadata: Metadata) -> tuple[Plane, ...]:
    names = parts.texts(schema.PLANE_NAME, count, wire)
    owner, stats = parts.where(schema.PLANE_STAT)
    values = read_values(wire, stats.start, stats.stop, owner)
    return tuple(
        Plane(name, python_values(wire, stat_metadata, number, values.take(np.flatnonzero(values.owner == number))))
        for number, name in enumerate(names)
    )


def _arrange(
    wire: Wire, plane: Int64, headers: Parts, events: Events, marks: Marks
) -> tuple[tuple[Line, ...], Events, int, int, tuple[str, ...]]:
    """Apply the lines' headers to the events: add timestamps, merge lines of one plane and id, and sort.

    ``plane`` is the plane of each line. Returns the lines, the events, time 0 in nanoseconds since 1970, when the last
    of the marks was, and notes.
    """
    count = plane.size
    used = np.flatnonzero(np.bincount(events.line, minlength=count) + marks.counts)
    timestamp_ns, origin_ns = _normalised(headers.numbers(schema.LINE_TIMESTAMP_NS, count), used)
    marks_end_ps = _last_mark_ps(marks, timestamp_ns)
    notes = _add_timestamps(events, timestamp_ns)
    display_id, line_id = (headers.numbers(tag, count) for tag in (schema.LINE_DISPLAY_ID, schema.LINE_ID))
    display_name, name = (headers.texts(tag, count, wire) for tag in (schema.LINE_DISPLAY_NAME, schema.LINE_NAME))
    keys = list(zip(plane.tolist(), np.where(display_id, display_id, line_id).tolist(), strict=True))
    merged = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    if len(merged) < count:
        events.line[:] = np.array([merged[key] for key in keys], np.int32)[events.line]
    events = in_order(events)
    ends = np.searchsorted(events.line, np.arange(len(merged)), "right").tolist()
    # Merged lines are named after the first.
    names = dict(zip(reversed(keys), reversed(np.where(display_name == "", name, display_name)), strict=True))
    spans = zip(merged, [0, *ends[:-1]], ends, strict=True) if merged else ()
    lines = tuple(Line(*key, names[key], first, last) for key, first, last in spans)
    return lines, events, origin_ns, marks_end_ps, notes


def _last_mark_ps(marks: Marks, timestamp_ns: Int64) -> int:
    """Return when the last mark was, 0 if there are none."""
    lines = np.flatnonzero(marks.counts)
    begin_ps = PS_PER_NS * timestamp_ns[lines].clip(-MAX_START_PS // PS_PER_NS, MAX_START_PS // PS_PER_NS)
    return int((begin_ps + marks.last_ps[lines]).clip(0, MAX_START_PS).max(initial=0))


def _normalised(timestamp_ns: Int64, used: Int64) -> tuple[Int64, int]:
    """Subtract the earliest timestamp of lines in use from timestamps that count from 1970, and return both."""
    since_1970 = timestamp_ns > _EPOCH_NS
    counted = used[since_1970[used]]
    origin_ns = int(timestamp_ns[counted].min()) if counted.size else 0
    return np.where(since_1970, timestamp_ns - origin_ns, timestamp_ns), origin_ns


def _within(times: Int64, least: int, most: int | None = None) -> bool:
    return not times.size or bool(times.min() >= least and (most is None or times.max() <= most))


def _add_timestamps(events: Events, timestamp_ns: Int64) -> tuple[str, ...]:
    """Add the timestamps of their lines to events, in place, and clip times that no capture has; return notes."""
    start, duration = events.start_ps, events.duration_ps
    odd_line = np.abs(timestamp_ns // 1000) > MAX_START_PS // PS_PER_US
    odd = odd_line[events.line] if odd_line.any() else np.zeros(start.size, bool)
    if not (_within(start, -MAX_START_PS, MAX_START_PS) and _within(duration, 0, _MAX_LENGTH_PS)):
        odd |= (start < -MAX_START_PS) | (start > MAX_START_PS) | (duration < 0) | (duration > _MAX_LENGTH_PS)
    if odd.any():
        timestamp_ns = timestamp_ns.clip(-MAX_START_PS // PS_PER_NS, MAX_START_PS // PS_PER_NS)
        start.clip(-MAX_START_PS, MAX_START_PS, out=start)
        duration[(duration < 0) | (duration > _MAX_LENGTH_PS)] = 0
    start += PS_PER_NS * timestamp_ns[events.line]
    if not _within(start, 0):
        odd |= start < 0
    if not odd.any():
        return cut_lengths(duration)
    early = np.flatnonzero(start < 0)
    duration[early] = (start[early] + duration[early]).clip(0)
    start.clip(0, MAX_START_PS, out=start)
    note = (
        f"{int(odd.sum()):,} events have times that no capture has: before its start, of negative length, or days away."
        " They are shown cut, or as instants."
    )
    return (note, *cut_lengths(duration))
