"""The taking down of old iterators of tf.data, for which a thread waits: no step and no line of Python asked for it.

An iterator ends with the last reference to it. Its autotuner sleeps for 10, 20, 40 ms and so on, and
must wake up first.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof_nb._arrays import Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.intervals import newly_covered

REMOVAL, IN_WORDS = "TFE_DeleteTensorHandle", "taking down an iterator"
_WORDS = {REMOVAL: IN_WORDS, "MakeIterator": "starting an iterator"}
_LONG_MS, _SLEEP_MS = 10, 200  # tensors take microseconds
_MOST_BUSY = 0.1  # of a sleep: iterators that still work are waited for too


class Sleeps(NamedTuple):
    """How often a thread waited for a sleeping autotuner, for how long in all, and the longest wait."""

    times: int = 0
    total_ms: float = 0.0
    longest_start_ms: float = 0.0
    longest_ms: float = 0.0


def removals(forest: Forest) -> Int64:
    """Return the events in which a thread took down an iterator."""
    events = np.flatnonzero(forest.named(REMOVAL) & forest.on_host)
    return events[forest.host.duration_ps[events] >= _LONG_MS * PS_PER_MS]


def sleeps(forests: Sequence[Forest]) -> Sleeps:
    """Return the waits of the host that waited longest."""
    return max((forest.once(host_sleeps) for forest in forests), key=lambda one: one.total_ms, default=Sleeps())


def host_sleeps(forest: Forest) -> Sleeps:
    """Return the long waits for the end of an iterator, in which no other thread of the host did anything."""
    host = forest.host
    events = [int(event) for event in removals(forest) if host.duration_ps[event] >= _SLEEP_MS * PS_PER_MS]
    waits = [event for event in events if _is_idle(forest, event)]
    if not waits:
        return Sleeps()
    longest = max(waits, key=lambda event: int(host.duration_ps[event]))
    total_ms = int(host.duration_ps[waits].sum()) / PS_PER_MS
    return Sleeps(len(waits), total_ms, host.start_ps[longest] / PS_PER_MS, host.duration_ps[longest] / PS_PER_MS)


def in_words(event: str) -> str:
    """Return what an event is called: an iterator's start and end in words, others by their names.

    Examples
    --------
    >>> in_words("TFE_DeleteTensorHandle"), in_words("MatMul")
    ('taking down an iterator', 'MatMul')
    """
    return _WORDS.get(event, event)


def _is_idle(forest: Forest, wait: int) -> bool:
    """Whether other threads of the host did hardly anything during an event."""
    host = forest.host
    begin, end = host.start_ps[wait], host.start_ps[wait] + host.duration_ps[wait]
    until = host.start_ps + host.duration_ps
    others = np.flatnonzero((host.line != host.line[wait]) & forest.on_host & (host.start_ps < end) & (until > begin))
    others = others[np.argsort(host.start_ps[others], kind="stable")]
    busy = newly_covered(host.start_ps[others].clip(begin), until[others].clip(max=end)).sum()
    return bool(busy <= _MOST_BUSY * host.duration_ps[wait])
