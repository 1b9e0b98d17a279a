"""Find the fields of long messages, such as a line with a million events, in lockstep.

Long messages are cut into lanes of about 1 KB, and all lanes hop from field to field at the same time. The start of the
first field in a lane is a guess that must be proven: a message's first lane starts where the message starts, and every
other lane must start where the lane before it stopped. Lanes that do not are run again from there.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Int64
from tfprof_nb.decode.schema import EVENT_METADATA, EVENT_OFFSET_PS, LINE_EVENT
from tfprof_nb.decode.wire import Wire

LANE_BYTES = 1024
_WINDOW = 160
_RUNS = 16
_HOPS = 1 << 13
_BLOCK = 1 << 12
_TOGETHER = 1 << 13  # so many lanes hop at a time: their positions stay in the processor's cache


class _Run(NamedTuple):
    """One run of some lanes: for each hop, the lanes that had not reached their limit, and their positions."""

    lanes: Int64
    hops: list[tuple[Int64, Int64]]


def find_fields(wire: Wire, begin: Int64, end: Int64) -> Int64:
    """Return where the fields of messages start, ascending.

    Parameters
    ----------
    begin, end
        The first position of each message and the position after it; ascending, without overlap.

    Raises
    ------
    BadProfileError
        A message is not a sequence of whole fields.
    """
    places = _in_lanes(wire, begin, end)
    if places is None:
        # Text that looks like events nearly everywhere, or no events at all: one field at a time is slow but sure.
        places = np.concatenate([wire.chain(*span) for span in zip(begin.tolist(), end.tolist(), strict=True)])
    return places


def _in_lanes(wire: Wire, begin: Int64, end: Int64) -> Int64 | None:
    """Return the positions of all fields in messages, or None if the guesses do not converge."""
    start, floor, ceiling = _lanes(wire, begin, end)
    limit = np.minimum(np.append(start[1:], ceiling[-1:]), ceiling)
    stop, wrong, runs, rounds = start.copy(), np.arange(start.size), list[_Run](), 0
    while wrong.size:
        for lanes in np.array_split(wrong, wrong.size // _TOGETHER + 1):
            run, stop[lanes] = _hop(wire, lanes, start, limit, ceiling)
            runs.append(run)
        rounds += 1
        if rounds > _RUNS or any(len(run.hops) >= _HOPS for run in runs):
            return None
        # A broken lane stops at or below 0. A field longer than a lane leaves the lanes that it covers empty.
        proven = np.maximum(np.maximum.accumulate(stop)[:-1], floor[1:])
        wrong = np.flatnonzero((start[1:] != proven) & (stop[:-1] > 0)) + 1
        start[wrong] = proven[wrong - 1]
    broken = np.flatnonzero(stop <= 0)
    if broken.size:
        raise wire.malformed(-int(stop[broken[0]]))
    return _collect(runs, start.size)


def _lanes(wire: Wire, begin: Int64, end: Int64) -> tuple[Int64, Int64, Int64]:
    """Cut messages into lanes; return for each lane its start (a guess), and the begin and end of its message."""
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
    """Return for each position the distance to the next bytes that look like an event, or -1."""
    shift = np.full(at.size, -1)
    for reach in (_WINDOW // 3, _WINDOW):  # most events are short
        unknown = np.flatnonzero(shift < 0)
        for first in range(0, unknown.size, _BLOCK):
            block = unknown[first : first + _BLOCK]
            shift[block] = _first_in(np.lib.stride_tricks.sliding_window_view(wire.bytes, reach)[at[block]])
    return shift


def _first_in(window: npt.NDArray[np.uint8]) -> Int64:
    """Return where in each row of bytes an event seems to start, or -1.

    An event starts with its tag and length, then the tags of its metadata's id and its offset; a stat starts alike
    except for the last. Lengths and ids have one or two bytes.

    Parameters
    ----------
    window
        uint8, one row of bytes per position.
    """
    begins = window[:, :-3] == EVENT_METADATA
    begins &= np.where(window[:, 1:-2] < 0x80, window[:, 2:-1], window[:, 3:]) == EVENT_OFFSET_PS
    likely = window[:, :-6] == LINE_EVENT
    likely &= np.where(window[:, 1:-5] < 0x80, begins[:, 2:-1], begins[:, 3:])
    return np.where(likely.any(axis=1), likely.argmax(axis=1), -1)


def _hop(wire: Wire, lane: Int64, start: Int64, limit: Int64, end: Int64) -> tuple[_Run, Int64]:
    """Hop from field to field up to each lane's limit.

    ``lane`` has the lanes to run; ``start``, ``limit`` and ``end`` are positions of all lanes. Returns all hops, and
    where each lane that ran stopped: the negative position if it is broken.
    """
    ran, stop, hops = lane, start.copy(), list[tuple[Int64, Int64]]()
    lane = lane[start[lane] < limit[lane]]
    at, until = start[lane], limit[lane]
    while lane.size and len(hops) < _HOPS:
        hops.append((lane, at))
        after = wire.read(at).stop
        goes_on = after < until
        if goes_on.all():
            at = after
            continue
        last = np.flatnonzero(~goes_on)
        stop[lane[last]] = np.where(after[last] > end[lane[last]], -at[last], after[last])
        more = np.flatnonzero(goes_on)
        lane, at, until = lane[more], after[more], until[more]
    return _Run(ran, hops), stop[ran]


def _collect(runs: list[_Run], lanes: int) -> Int64:
    """Return the positions of all lanes' fields in order, for each lane from its last run."""
    count = np.zeros(lanes, np.int64)
    for run in runs:
        count[run.lanes] = 0
        for lane, _ in run.hops:
            count[lane] += 1
    offset = np.cumsum(count) - count
    places = np.empty(count.sum(), np.int64)
    for run in runs:
        for step, (lane, at) in enumerate(run.hops):
            valid = step < count[lane]
            if valid.all():
                places[offset[lane] + step] = at
            else:
                places[(offset[lane] + step)[valid]] = at[valid]
    return places
