"""Events as slices in lanes: those of a stretch of time, merged where they are too short to see."""

import zlib
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Int32, Int64

GAP_BYTES, DURATION_BYTES, NAME_BYTES = 6, 6, 3
MAX_UNITS = 1 << 8 * min(GAP_BYTES, DURATION_BYTES)  # a trace must be shorter than so many units
EVENT_BYTES, EVENTS_BYTES, BUSY_BYTES = 4, 4, 1


@dataclass(frozen=True, eq=False)
class Slices:
    """Events, or runs of merged events, by lane and then by start; slices of one lane do not overlap.

    Attributes
    ----------
    bounds
        Lane k holds the slices ``bounds[k]`` to ``bounds[k + 1] - 1``.
    start_ps, end_ps
        Per slice: its times; a merged slice reaches from the start of its first event to the end of its last.
    name
        Per slice: the code of its name, which is that of its longest event.
    event
        Per slice: the number of its longest event.
    events
        Per slice: the number of events that it stands for.
    busy_ps
        Per slice: the time for which these ran.
    """

    bounds: Int64
    start_ps: Int64
    end_ps: Int64
    name: Int32
    event: Int64
    events: Int64
    busy_ps: Int64

    def __len__(self) -> int:
        return len(self.start_ps)

    @property
    def lane(self) -> Int64:
        """Per slice: its lane."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    @property
    def merged(self) -> bool:
        """Whether any slice stands for several events."""
        return bool((self.events > 1).any())


def slices_of(bounds: Int64, start_ps: Int64, end_ps: Int64, name: Int32, events: Int64 | None = None) -> Slices:
    """Return events as slices.

    Parameters
    ----------
    bounds
        The bounds of lanes, as in `Slices`.
    start_ps, end_ps, name
        One entry per event of the trace.
    events
        The numbers of the events; None takes all.
    """
    event = np.arange(len(start_ps)) if events is None else events
    start, end = start_ps[event], end_ps[event]
    return Slices(bounds, start, end, name[event], event, np.ones(len(event), dtype=np.int64), end - start)


def events_within(bounds: Int64, start_ps: Int64, end_ps: Int64, begin: int, stop: int) -> tuple[Int64, Int64]:
    """Return the numbers of the events that touch the time from ``begin`` to ``stop``, and their lanes' bounds.

    Both ends are included, as in XProf: an event that ends at ``begin`` is returned. ``bounds`` are those of the lanes
    of all events; ``start_ps`` and ``end_ps`` have one entry per event.
    """
    parts = []
    for first, last in pairwise(bounds.tolist()):
        low = first + int(np.searchsorted(end_ps[first:last], begin, "left"))
        high = first + int(np.searchsorted(start_ps[first:last], stop, "right"))
        parts.append((low, max(high, low)))
    counts = [high - low for low, high in parts]
    events = np.concatenate([np.arange(low, high) for low, high in parts] or [np.zeros(0, np.int64)])
    return events.astype(np.int64), np.cumsum([0, *counts])


def merge(slices: Slices, bin_ps: float) -> Slices:
    """Merge slices shorter than a bin with neighbours that start in the same bin of the same lane.

    Slices as long as a bin stay as they are, so that a lane has at most two slices per bin.
    """
    if not len(slices):
        return slices
    length = slices.end_ps - slices.start_ps
    alone = length >= bin_ps
    opens = (np.diff((slices.start_ps // bin_ps).astype(np.int64), prepend=-1) != 0) | alone
    opens[1:] |= alone[:-1]
    opens[slices.bounds[:-1][np.diff(slices.bounds) > 0]] = True
    # Slices to merge are neighbours: so reduceat does, ten times as fast, what a groupby would do.
    first, run = np.flatnonzero(opens), np.cumsum(opens) - 1
    is_longest = np.flatnonzero(length == np.maximum.reduceat(length, first)[run])
    longest = is_longest[np.diff(run[is_longest], prepend=-1) > 0]
    return Slices(
        bounds=np.searchsorted(first, slices.bounds),
        start_ps=slices.start_ps[first],
        end_ps=np.maximum.reduceat(slices.end_ps, first),
        name=slices.name[longest],
        event=slices.event[longest],
        events=np.add.reduceat(slices.events, first),
        busy_ps=np.add.reduceat(slices.busy_ps, first),
    )


def encode(slices: Slices, unit_ps: int, *, merged: bool, level: int = 1) -> bytes:
    """Return slices as zlib-compressed byte planes.

    Parameters
    ----------
    unit_ps
        The unit of times; starts and ends are rounded down to whole units.
    merged
        Whether to add which events each slice stands for; otherwise slice k is event k.
    level
        zlib's compression level: 1 is fast, 9 is small.
    """
    start, end = slices.start_ps // unit_ps, slices.end_ps // unit_ps
    before = np.roll(end, 1)
    before[slices.bounds[:-1][np.diff(slices.bounds) > 0]] = 0
    length = slices.end_ps - slices.start_ps
    planes = [
        _byte_planes(start - before, GAP_BYTES),
        _byte_planes(end - start, DURATION_BYTES),
        _byte_planes(slices.name, NAME_BYTES),
    ]
    if merged:
        share = np.where(length > 0, slices.busy_ps / np.maximum(length, 1), 1.0)
        planes += [
            _byte_planes(np.diff(slices.event, prepend=0), EVENT_BYTES),
            _byte_planes(slices.events, EVENTS_BYTES),
            _byte_planes(np.ceil(np.clip(share, 0, 1) * 255), BUSY_BYTES),
        ]
    return zlib.compress(b"".join(planes), level)


def _byte_planes(values: npt.NDArray[Any], width: int) -> bytes:
    """Order numbers by byte: the lowest byte of each, then the next, and so on; similar bytes compress well."""
    return values.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width].T.tobytes()
