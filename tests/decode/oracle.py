"""What protobuf's objects say about a file, in the order and form of a `Host`: plain loops, to compare with."""

from xplane_messages import XSpace


def rows(data):
    """Every positioned event as (plane, line id, start_ps, duration_ps, name, display name, stats)."""
    found = []
    for number, plane in enumerate(XSpace.FromString(data).planes):
        merged = {}
        for line in plane.lines:
            merged.setdefault(line.display_id or line.id, []).append(line)
        for line_id, lines in merged.items():
            events = [(line, event) for line in lines for event in line.events if not _is_aggregate(event)]
            events.sort(key=lambda pair: (_start_ps(*pair), -pair[1].duration_ps))
            found += [_row(number, plane, line_id, *pair) for pair in events]
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


def _start_ps(line, event):
    return line.timestamp_ns * 1000 + event.offset_ps


def _row(number, plane, line_id, line, event):
    metadata = plane.event_metadata[event.metadata_id]
    return (
        number,
        line_id,
        _start_ps(line, event),
        event.duration_ps,
        metadata.name,
        metadata.display_name or metadata.name,
        stats_of(plane, event.stats, metadata.stats),
    )
