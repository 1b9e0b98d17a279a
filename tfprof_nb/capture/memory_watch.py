"""Watch the memory while a capture records, so that the capture never uses it up.

TensorFlow's profiler keeps every event in memory, from 150 bytes to 5 KB each as the program is, and takes 500 bytes
more when it saves them. What the events take is estimated by the process' growth, without the bursts in which programs
allocate. Where ops are recorded in windows, only growth within the windows counts, and the marks between them: growth
from the end of one steady step to that of the next, since within a step tensors come and go, and the first steps trace
and allocate what stays. Of a step that takes very long, all growth counts but that in calls that trace a function.
"""

import os
import statistics
import threading
import time
from collections.abc import Callable
from itertools import pairwise

import psutil

from tfprof_nb._memory import free_bytes
from tfprof_nb.capture.detail import Detail
from tfprof_nb.capture.python_stacks import stack_of
from tfprof_nb.capture.ticker import Ticker
from tfprof_nb.formats.sidecar import SHORT_OF_MEMORY, TOO_LARGE, Stopped

MOST_BYTES = 1 << 30
"""What the events of a capture without ``steps`` and ``max_seconds`` may take: 200,000 to 7 million events."""

MANY_BYTES = 32 << 20
"""What the events take of programs that run many short ops, or hand on many small elements: 200,000 events."""

MOST_BYTES_IN_WINDOWS = 128 << 20
"""What the ops in all windows of a capture may take, and as much again its marks."""

_INTERVAL_S = 0.1
_MARK_BYTES = 400  # of a mark made in Python, by the growth of a long `fit` between its windows
_SAVING = 4  # times what the events take
_RESERVE_BYTES, _RESERVE_SHARE = 512 << 20, 0.05  # of the machine's memory, for all else; the smaller counts
_FASTEST = (50 << 20) * (os.cpu_count() or 1)  # bytes of events a second
_PARTS = 8
_TRACING = "func_graph_from_py_func"  # TensorFlow's function that traces others
_LONG_STEP_S = 10
_SHORTEST_S = 20  # for `MOST_BYTES`: a shorter growth may be the program's


class MemoryWatch:
    """Calls a function when a recording takes too much memory.

    Parameters
    ----------
    stop
        Ends the recording; gets why, and after which time. Called at most once per recording, from another thread.
    detail
        Says when ops are recorded. It leaves out more as the events take more. None: ops are recorded all the time.
    bounded
        Whether `MOST_BYTES` counts. A shortage of memory always does.

    Attributes
    ----------
    events_bytes
        What the events of the recording take, as last estimated.
    """

    def __init__(self, stop: Callable[[Stopped], None], detail: Detail | None, *, bounded: bool) -> None:
        self._stop, self._detail, self._bounded = stop, detail, bounded
        self._ticker = Ticker(self._watch, _INTERVAL_S, "memory")
        self.events_bytes = 0

    def begin(self) -> None:
        """Begin to watch."""
        self.end()
        self._thread = threading.get_ident()
        self._ticker, self.events_bytes, self._traced_in = Ticker(self._watch, _INTERVAL_S, "memory"), 0, -1
        self._ticker.start()

    def end(self) -> None:
        """End watching."""
        self._ticker.end()

    def _watch(self, ticker: Ticker) -> None:
        process, began = psutil.Process(), time.monotonic()
        reserve = min(_RESERVE_BYTES, int(psutil.virtual_memory().total * _RESERVE_SHARE))
        detail = self._detail if self._detail and self._detail.is_active else None
        held, in_windows = [process.memory_info().rss], [0]
        grown, looks, steps, ended_at = 0, 0, (0, 0), 0.0
        for _ in ticker:
            held.append(process.memory_info().rss)
            seconds = time.monotonic() - began
            if detail is None:
                self.events_bytes, most = events_bytes(held, seconds), MOST_BYTES
            else:
                if detail.is_open and not (detail.is_warming_up or self._in_first_call(detail)):
                    grown, looks = grown + held[-1] - held[-2], looks + 1
                (ended, steady), steps = steps, (detail.ended, detail.steady)
                if steps[0] != ended or seconds - ended_at > _LONG_STEP_S:
                    if steps[0] == ended or steps[1] != steady:
                        in_windows.append(in_windows[-1] + grown)
                    grown, ended_at = 0, seconds
                ops = events_bytes(in_windows, looks * _INTERVAL_S)
                self.events_bytes = self._in_windows(detail, events_bytes(held, seconds), ops)
                most = 2 * MOST_BYTES_IN_WINDOWS
            if free_bytes() < reserve + _SAVING * self.events_bytes:
                why = SHORT_OF_MEMORY
            elif self._bounded and self.events_bytes > most and seconds > _SHORTEST_S:
                why = TOO_LARGE
            else:
                continue
            if not ticker.ended:
                self._stop(Stopped(why=why, seconds=round(seconds, 1)))
            return

    def _in_first_call(self, detail: Detail) -> bool:
        """Whether a call goes on that traced a function, whose graph it then optimizes and runs for the first time."""
        if any(code.co_name == _TRACING for code, _ in stack_of(self._thread)):
            self._traced_in = detail.calls
        return self._traced_in == detail.calls

    def _in_windows(self, detail: Detail, grown: int, ops: int) -> int:
        """Leave out more where events take much; return what those in the windows, the ops, and the marks take."""
        if grown > MANY_BYTES:
            detail.leave_out_runtime()
        if ops > MOST_BYTES_IN_WINDOWS:
            detail.open_no_more()
        return min(ops, MOST_BYTES_IN_WINDOWS) + _MARK_BYTES * detail.marks


def events_bytes(held: list[int], seconds: float) -> int:
    """Estimate what the recorded events take, by the memory that the process held at equal intervals."""
    places = [place * (len(held) - 1) // _PARTS for place in range(_PARTS + 1)]
    points = [held[place] for place in sorted(set(places))]
    growth = statistics.median([after - before for before, after in pairwise(points)] or [0])
    return int(min(max(growth, 0) * (len(points) - 1), _FASTEST * seconds))
