"""Events of a picture as slices in lanes: cut to a stretch of time, merged where they are shorter than a pixel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tfprof_nb._arrays import Int32, Int64


@dataclass(frozen=True, eq=False)
class Slices:
    """Events, or runs of merged ones, lane after lane and by start in each; those of a lane do not overlap.

    Attributes
    ----------
    bounds
        Lane k holds the slices ``bounds[k]`` to ``bounds[k + 1] - 1``.
    start_ps, end_ps
        Where each is; a merged one reaches from its first event to the end of its last.
    name
        Name code; of a merged one, that of its longest event.
    event
        Number of the event; of a merged one, of its longest.
    events
        How many events it stands for.
    busy_ps
        How long these ran.
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
        """The lane of each slice."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    @property
    def merged(self) -> bool:
        """Whether any stands for several events."""
        return bool((self.events > 1).any())


def slices_of(bounds: Int64, start_ps: Int64, end_ps: Int64, name: Int32, rows: Int64 | None = None) -> Slices:
    """Return the events at ``rows`` (all by default) as slices; ``bounds`` are those of the lanes of these."""
    event = np.arange(len(start_ps)) if rows is None else rows
    start, end = start_ps[event], end_ps[event]
    return Slices(bounds, start, end, name[event], event, np.ones(len(event), dtype=np.int64), end - start)


def rows_within(bounds: Int64, start_ps: Int64, end_ps: Int64, begin: int, stop: int) -> tuple[Int64, Int64]:
    """Return the rows of the events that touch ``begin`` to ``stop``, and the bounds of the lanes among them.

    Both ends count in, as in XProf: an event that ends where the stretch begins is within.
    """
    parts = []
    for first, last in pairwise(bounds.tolist()):
        low = first + int(np.searchsorted(end_ps[first:last], begin, "left"))
        high = first + int(np.searchsorted(start_ps[first:last], stop, "right"))
        parts.append((low, max(high, low)))
    counts = [high - low for low, high in parts]
    rows = np.concatenate([np.arange(low, high) for low, high in parts] or [np.zeros(0, np.int64)])
    return rows.astype(np.int64), np.cumsum([0, *counts])


def merge(slices: Slices, bin_ps: float) -> Slices:
    """Merge slices shorter than a bin with neighbours that start in the same bin of the same lane.

    One that is as long as a bin stays by itself, so a lane has at most two slices per bin.
    """
    if not len(slices):
        return slices
    length = slices.end_ps - slices.start_ps
    alone = length >= bin_ps
    opens = (np.diff((slices.start_ps // bin_ps).astype(np.int64), prepend=-1) != 0) | alone
    opens[1:] |= alone[:-1]
    opens[slices.bounds[:-1][np.diff(slices.bounds) > 0]] = True
    # What merges stands side by side, so that reduceat does what a groupby would take ten times as long for.
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
