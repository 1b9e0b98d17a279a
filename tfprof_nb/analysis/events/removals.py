"""The taking down of old iterators of tf.data, for which a thread waits: no step and no line of Python asked for it.

An iterator ends with the last reference to it. Its autotuner sleeps for 10, 20, 40 ms and so on, and
must wake up first: it misses the call that should wake it in many passes, not in all.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.intervals import newly_covered
from tfprof_nb.analysis.events.recorded_ops import recorded_ops
from tfprof_nb.formats.marks import ITERATOR_END

REMOVAL, IN_WORDS = "TFE_DeleteTensorHandle", "deleting an iterator"
_WORDS = {REMOVAL: IN_WORDS, ITERATOR_END: IN_WORDS, "MakeIterator": "starting an iterator"}
_LONG_MS = 10  # tensors take microseconds
_MOST_BUSY = 0.1  # of a sleep: iterators that still work are waited for too


class Sleeps(NamedTuple):
    """How often a thread waited for a sleeping autotuner, for how long in all, and the longest wait.

    ``others_seen`` tells whether ops were recorded all the while: else other threads may have been busy.
    """

    times: int = 0
    total_ms: float = 0.0
    longest_start_ms: float = 0.0
    longest_ms: float = 0.0
    event: str = REMOVAL
    others_seen: bool = True


def removals(forest: Forest) -> Int64:
    """Return the events in which a thread took down an iterator: marks, and TensorFlow's own within and without."""
    events = np.flatnonzero(forest.named(REMOVAL, ITERATOR_END) & forest.on_host)
    return events[forest.host.duration_ps[events] >= _LONG_MS * PS_PER_MS]


def sleeps(forests: Sequence[Forest]) -> Sleeps:
    """Return the waits of the host that waited longest."""
    return max((forest.once(host_sleeps) for forest in forests), key=lambda one: one.total_ms, default=Sleeps())


def host_sleeps(forest: Forest) -> Sleeps:
    """Return the long waits for the end of an iterator, in which no other thread of the host did anything."""
    host, events = forest.host, removals(forest)
    events = events[~np.isin(forest.nesting.parent[events], events)]
    waits = events[_are_idle(forest, events)]
    if not len(waits):
        return Sleeps()
    longest = int(waits[np.argmax(host.duration_ps[waits])])
    total_ms = int(host.duration_ps[waits].sum()) / PS_PER_MS
    start_ms, duration_ms = host.start_ps[longest] / PS_PER_MS, host.duration_ps[longest] / PS_PER_MS
    seen = bool(forest.once(recorded_ops).hold(host.start_ps[waits], forest.ends_ps(waits)).all())
    return Sleeps(len(waits), total_ms, start_ms, duration_ms, str(host.names[host.metadata[longest]]), seen)


def in_words(event: str) -> str:
    """Return what an event is called: an iterator's start and end in words, others by their names.

    Examples
    --------
    >>> in_words("TFE_DeleteTensorHandle"), in_words("MatMul")
    ('deleting an iterator', 'MatMul')
    """
    return _WORDS.get(event, event)


def _are_idle(forest: Forest, waits: Int64) -> Bools:
    """Whether other threads of the host did hardly anything during each of some events."""
    host, idle = forest.host, np.zeros(len(waits), dtype=bool)
    for line in np.unique(host.line[waits]):
        others = np.flatnonzero((host.line != line) & forest.on_host)
        others = others[np.argsort(host.start_ps[others], kind="stable")]
        start, end = host.start_ps[others], host.start_ps[others] + host.duration_ps[others]
        reach = np.append(0, np.maximum.accumulate(end))
        busy = np.append(0, np.cumsum(newly_covered(start, end)))

        def busy_until(at: Int64, start: Int64 = start, reach: Int64 = reach, busy: Int64 = busy) -> Int64:
            before = np.searchsorted(start, at, side="right")
            covered: Int64 = busy[before] - np.maximum(reach[before] - at, 0)
            return covered

        mine = host.line[waits] == line
        begin, duration = host.start_ps[waits[mine]], host.duration_ps[waits[mine]]
        idle[mine] = busy_until(begin + duration) - busy_until(begin) <= _MOST_BUSY * duration
    return idle
