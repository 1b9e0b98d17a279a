"""The taking down of old iterators of tf.data, for which a thread waits: no step and no line of Python asked for it.

An iterator ends with the last reference to it. Its autotuner sleeps for 10, 20, 40 ms and so on, and
must wake up first.
"""

from __future__ import annotations

import numpy as np

from tfprof_nb._arrays import Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest

REMOVAL, IN_WORDS = "TFE_DeleteTensorHandle", "taking down an iterator"
_WORDS = {REMOVAL: IN_WORDS, "MakeIterator": "starting an iterator"}
_LONG_MS = 10  # tensors take microseconds


def removals(forest: Forest) -> Int64:
    """Return the events in which a thread took down an iterator."""
    events = np.flatnonzero(forest.named(REMOVAL) & forest.on_host)
    return events[forest.host.duration_ps[events] >= _LONG_MS * PS_PER_MS]


def in_words(event: str) -> str:
    """Return what an event is called: an iterator's start and end in words, others by their names.

    Examples
    --------
    >>> in_words("TFE_DeleteTensorHandle"), in_words("MatMul")
    ('taking down an iterator', 'MatMul')
    """
    return _WORDS.get(event, event)
