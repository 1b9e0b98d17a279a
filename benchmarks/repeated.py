"""Large captures: one recorded capture several times over, with its times, steps and links moved on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from builders import field
from xplane_messages import XLine as Line
from xplane_messages import XPlane as Plane
from xplane_messages import XSpace as Space

_NUMBERS = {"group_id", "step_num"}
_LINKS = {"id", "parent_id", "_p", "_c", "correlation_id", "producer_id", "consumer_id"}
_APART = 0x9E3779B97F4A7C15  # what a copy's links differ by, modulo 2**64

Stat = Any


def repeated(data: bytes, times: int) -> bytes:
    """Return a capture that lasts ``times`` as long."""
    space = Space.FromString(data)
    span, steps = _span(space), _steps(space)
    planes = []
    for plane in space.planes:
        lines = b"".join(field(3, _line(line, times, span, _counted(plane, line, steps))) for line in plane.lines)
        del plane.lines[:]
        planes.append(field(1, plane.SerializeToString() + lines))
    del space.planes[:]
    return b"".join(planes) + space.SerializeToString()


def _span(space: Space) -> int:
    """Return how long the capture lasts, in picoseconds."""
    lines = [line for plane in space.planes for line in plane.lines if line.events]
    begin = min(1000 * line.timestamp_ns + min(event.offset_ps for event in line.events) for line in lines)
    end = max(
        1000 * line.timestamp_ns + max(event.offset_ps + event.duration_ps for event in line.events) for line in lines
    )
    return int(end - begin)


def _steps(space: Space) -> int:
    """Return how far the numbers of a copy's steps are from those of the one before."""
    largest = 0
    for plane in space.planes:
        numbers = {number for number, stat in plane.stat_metadata.items() if stat.name in _NUMBERS}
        stats = (stat for line in plane.lines for event in line.events for stat in event.stats)
        largest = max([largest, *(stat.int64_value for stat in stats if stat.metadata_id in numbers)])
    return largest + 1


def _counted(plane: Plane, line: Line, steps: int) -> list[tuple[Stat, str, int]]:
    """Return the stats that a copy has its own of: each with its field, and what is added to it."""
    added = {number: steps for number, stat in plane.stat_metadata.items() if stat.name in _NUMBERS}
    added |= {number: _APART for number, stat in plane.stat_metadata.items() if stat.name in _LINKS}
    stats = [stat for event in line.events for stat in event.stats if stat.metadata_id in added]
    found = [(stat, str(stat.WhichOneof("choice")), added[stat.metadata_id]) for stat in stats]
    counted = [one for one in found if one[1].endswith("int64_value")]
    return [(stat, kind, more) for stat, kind, more in counted if more == steps or getattr(stat, kind)]


def _line(line: Line, times: int, span: int, counted: list[tuple[Stat, str, int]]) -> bytes:
    """Return a line's message with its events many times."""
    copies = []
    for _ in range(times):
        copies.append(Line(events=line.events).SerializeToString())
        for event in line.events:
            event.offset_ps += span
        for stat, kind, more in counted:
            least = -(1 << 63) if kind == "int64_value" else 0
            setattr(stat, kind, (getattr(stat, kind) + more - least) % (1 << 64) + least)
    del line.events[:]
    return line.SerializeToString() + b"".join(copies)
