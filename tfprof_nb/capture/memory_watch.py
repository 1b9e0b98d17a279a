"""Watch the memory while a capture records, so that the capture never uses it up.

TensorFlow's profiler keeps every event in memory, from 150 bytes to 5 KB each as the program is, and takes 500 bytes
more when it saves them. What the events take is estimated by the process' growth, without the bursts in which programs
allocate.
"""

import os
import statistics
import threading
import time
from collections.abc import Callable
from itertools import pairwise

import psutil

from tfprof_nb._memory import free_bytes
from tfprof_nb.formats.sidecar import SHORT_OF_MEMORY, TOO_LARGE, Stopped

MOST_BYTES = 1 << 30
"""What the events of a capture without ``steps`` and ``max_seconds`` may take: 200,000 to 7 million events."""

MANY_BYTES = 32 << 20
"""What the events take of programs that run many short ops, or hand on many small elements: 200,000 events."""

_INTERVAL_S = 0.1
_SAVING = 4  # times what the events take
_RESERVE_BYTES, _RESERVE_SHARE = 512 << 20, 0.05  # of the machine's memory, for all else; the smaller counts
_FASTEST = (50 << 20) * (os.cpu_count() or 1)  # bytes of events a second
_PARTS = 8
_SHORTEST_S = 20  # for `MOST_BYTES`: a shorter growth may be the program's


class MemoryWatch:
    """Calls a function when a recording takes too much memory.

    Parameters
    ----------
    stop
        Ends the recording; gets why, and after which time. Called at most once per recording, from another thread.
    record_less
        Called once per recording, from another thread, when the events take more than `MANY_BYTES`.
    bounded
        Whether `MOST_BYTES` counts. A shortage of memory always does.

    Attributes
    ----------
    events_bytes
        What the events of the recording take, as last estimated.
    """

    def __init__(self, stop: Callable[[Stopped], None], record_less: Callable[[], object], *, bounded: bool) -> None:
        self._stop, self._record_less, self._bounded = stop, record_less, bounded
        self._ended = threading.Event()
        self.events_bytes = 0

    def begin(self) -> None:
        """Begin to watch."""
        self.end()
        self._ended, self.events_bytes = threading.Event(), 0
        threading.Thread(target=self._watch, args=(self._ended,), name="tfprof_nb memory", daemon=True).start()

    def end(self) -> None:
        """End watching."""
        self._ended.set()

    def _watch(self, ended: threading.Event) -> None:
        process, began = psutil.Process(), time.monotonic()
        reserve = min(_RESERVE_BYTES, int(psutil.virtual_memory().total * _RESERVE_SHARE))
        held, has_many = [process.memory_info().rss], False
        while not ended.wait(_INTERVAL_S):
            held.append(process.memory_info().rss)
            seconds = time.monotonic() - began
            self.events_bytes = taken = events_bytes(held, seconds)
            if taken > MANY_BYTES and not has_many and not ended.is_set():
                has_many = True
                self._record_less()
            if free_bytes() < reserve + _SAVING * taken:
                why = SHORT_OF_MEMORY
            elif self._bounded and taken > MOST_BYTES and seconds > _SHORTEST_S:
                why = TOO_LARGE
            else:
                continue
            if not ended.is_set():
                self._stop(Stopped(why=why, seconds=round(seconds, 1)))
            return


def events_bytes(held: list[int], seconds: float) -> int:
    """Estimate what the recorded events take, by the memory that the process held at equal intervals."""
    places = [place * (len(held) - 1) // _PARTS for place in range(_PARTS + 1)]
    points = [held[place] for place in sorted(set(places))]
    growth = statistics.median(after - before for before, after in pairwise(points))
    return int(min(max(growth, 0) * (len(points) - 1), _FASTEST * seconds))
