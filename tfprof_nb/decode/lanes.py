"""Find the fields of long messages, such as a line with a million events, in lockstep too.

Long messages are cut into lanes of about 2 KB, and all lanes hop from field to field at once. Where the first field of
a lane starts is a guess, until it is proven: a message's first lane starts where the message does, and every other has
to start where the one before it stopped. Those that do not are run again from there.
"""

from __future__ import annotations

import numpy as np

from .wire import Int64, Wire

LANE_BYTES = 2048
_WINDOW = 160
_ROUNDS = 16


def find_fields(wire: Wire, begin: Int64, end: Int64) -> Int64:
    """Return where the fields of messages start, ascending.

    Parameters
    ----------
    wire
        The file.
    begin, end
        Where each message lies; ascending, none within another.

    Raises
    ------
    BadProfileError
        A message is not a sequence of whole fields.
    """
    start, first, end = _lanes(wire, begin, end)
    limit = np.minimum(np.append(start[1:], end[-1:]), end)
    cuts = start.copy()
    places, stop = _hop(wire, start, limit, end)
    for _ in range(_ROUNDS):
        # A broken lane has stop 0. A field longer than a lane leaves the lanes that it covers empty.
        proven = np.maximum(np.maximum.accumulate(stop)[:-1], first[1:])
        wrong = np.flatnonzero((start[1:] != proven) & (stop[:-1] > 0)) + 1
        if not wrong.size:
            break
        places = places[~np.isin(np.searchsorted(cuts, places, "right") - 1, wrong)]
        start[wrong] = proven[wrong - 1]
        found, stop[wrong] = _hop(wire, start[wrong], limit[wrong], end[wrong])
        places = np.sort(np.concatenate([places, found]))
    else:
        # Text that looks like events nearly everywhere: one field after the other is slow, but ends.
        return np.concatenate([wire.chain(*span) for span in zip(begin.tolist(), end.tolist(), strict=True)])
    if not stop.all():
        raise wire.malformed(int(start[np.argmin(stop)]))
    return places


def _lanes(wire: Wire, begin: Int64, end: Int64) -> tuple[Int64, Int64, Int64]:
    """Cut messages into lanes; return each lane's start (a guess), and its message's begin and end."""
    begin, end = begin[begin < end], end[begin < end]
    lanes = (end - begin) // LANE_BYTES + 1
    message = np.repeat(np.arange(begin.size), lanes)
    ordinal = np.arange(message.size) - np.repeat(np.cumsum(lanes) - lanes, lanes)
    start = begin[message] + ordinal * LANE_BYTES
    inner = np.flatnonzero((ordinal > 0) & (start + _WINDOW <= end[message]))
    shift = _first_event(wire, start[inner])
    start[inner] += shift
    keep = np.concatenate([np.flatnonzero(ordinal == 0), inner[shift >= 0]])
    keep.sort()
    return start[keep], begin[message[keep]], end[message[keep]]


def _first_event(wire: Wire, at: Int64) -> Int64:
    """Return how far from each position something starts that looks like an event, or -1."""
    if not at.size:
        return at
    window = np.lib.stride_tricks.sliding_window_view(wire.bytes, _WINDOW)[at]
    tag, short, long = window[:, :-3] == 0x22, window[:, 2:-1] == 0x08, window[:, 3:] == 0x08
    likely = tag & np.where(window[:, 1:-2] < 0x80, short, long)
    shift: Int64 = likely.argmax(axis=1)
    return np.where(likely.any(axis=1), shift, -1)


def _hop(wire: Wire, start: Int64, limit: Int64, end: Int64) -> tuple[Int64, Int64]:
    """Hop from field to field until each lane's limit; return all places, sorted, and each lane's stop (0: broken)."""
    lane = np.flatnonzero(start < limit)
    at, stop, places = start[lane], start.copy(), [start[:0]]
    while lane.size:
        places.append(at)
        after = wire.read(at).stop
        stop[lane] = np.where(after > end[lane], 0, after)
        more = np.flatnonzero(after < limit[lane])
        if more.size == lane.size:
            at = after
        else:
            lane, at = lane[more], after[more]
    found = np.concatenate(places)
    found.sort()
    return found, stop
