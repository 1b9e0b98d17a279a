"""What protobuf's objects say about a file, in the order and form of a `Host`: plain loops, to compare with."""

from xplane_messages import XSpace


def rows(data):
    """Every positioned event as (plane, line id, start_ps, duration_ps, name, display name, stats)."""
    found = []
    planes = XSpace.FromString(data).planes
    origin_ps = _origin_ps(planes)
    for number, plane in enumerate(planes):
        merged = {}
        for line in plane.lines:
            merged.setdefault(line.display_id or line.id, []).append(line)
        for line_id, lines in merged.items():
            events = [(line, event) for line in lines for event in line.events if not _is_aggregate(event)]
            timed = [(*_clipped(*pair, origin_ps), pair[1]) for pair in events]
            timed.sort(key=lambda triple: (triple[0], -triple[1]))
            found += [_row(number, plane, line_id, *triple) for triple in timed]
    return found


def host_rows(host):
    """Return the same of a decoded host."""
    return [
        (
            host.lines[line].plane,
            host.lines[line].id,
            int(host.start_ps[row]) + host.origin_ns * 1000,
            int(host.duration_ps[row]),
            host.names[host.metadata[row]],
            host.display_names[host.metadata[row]],
            host.stats_of(row),
        )
        for row, line in enumerate(host.line.tolist())
    ]


def stats_of(plane, *containers):
    """Return stats by name; the first of a name counts."""
    found = {}
    for container in containers:
        for stat in container:
            kind = stat.WhichOneof("choice")
            if kind is not None:
                value = getattr(stat, kind)
                name = plane.stat_metadata[stat.metadata_id].name
                found.setdefault(name, plane.stat_metadata[as_int64(value)].name if kind == "ref_value" else value)
    return found


def as_int64(value):
    """Return a whole number modulo 2**64, as int64 holds it."""
    return (value + 2**63) % 2**64 - 2**63


def _is_aggregate(event):
    return event.WhichOneof("choice") == "num_occurrences"


def _origin_ps(planes):
    """When the earliest line with events began, if any counts from 1970."""
    lines = [line for plane in planes for line in plane.lines if not all(map(_is_aggregate, line.events))]
    return 1000 * min((line.timestamp_ns for line in lines if line.timestamp_ns > 10**15), default=0)


def _clipped(line, event, origin_ps):
    """Return start and duration; clipped are times before the capture, over 20 hours, and 13 days later."""
    origin_ps = origin_ps if line.timestamp_ns > 10**15 else 0
    start = line.timestamp_ns * 1000 - origin_ps + event.offset_ps
    duration = event.duration_ps if 0 <= event.duration_ps <= 2**56 else 0
    return min(max(start, 0), 2**60) + origin_ps, max(duration + min(start, 0), 0)


def _row(number, plane, line_id, start_ps, duration_ps, event):
    metadata = plane.event_metadata[event.metadata_id]
    return (
        number,
        line_id,
        start_ps,
        duration_ps,
        metadata.name,
        metadata.display_name or metadata.name,
        stats_of(plane, event.stats, metadata.stats),
    )
