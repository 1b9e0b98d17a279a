"""What Python does during a capture: samples of the stacks of the thread that trains and of those that feed it.

A thread reads the stacks of other threads at a regular interval; nothing is added to the code that it watches.
Python runs one thread at a time, so a sample must wait until the watched thread pauses; `_SWITCH_S` bounds that wait.
"""

from __future__ import annotations

import sys
import threading
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import itemgetter
from types import CodeType, FrameType

from tfprof_nb.capture.autograph import Place, origins
from tfprof_nb.capture.graphs.interning import Interned
from tfprof_nb.capture.graphs.source_lines import is_users
from tfprof_nb.capture.sidecar import Gather
from tfprof_nb.formats.sidecar import PythonSection

INTERVAL_S = 0.004
_SWITCH_S = 0.0005
_MAX_DEPTH = 200
# TensorFlow calls Python functions of tf.data on threads of its own, through this file.
_FEEDERS = "script_ops.py"

Instruction = tuple[CodeType, int]  # a code object, and the index of the instruction that it runs


@contextmanager
def python_stacks(interval_s: float = INTERVAL_S) -> Iterator[Gather]:
    """Sample the stacks of the calling thread, and of threads in which TensorFlow calls Python."""
    sampler = _Sampler(threading.get_ident(), interval_s)
    switch_s = sys.getswitchinterval()
    sys.setswitchinterval(min(_SWITCH_S, switch_s))
    sampler.start()
    try:
        yield sampler.gather
    finally:
        sampler.end()
        sys.setswitchinterval(switch_s)


class _Sampler(threading.Thread):
    """Samples stacks until it is ended. Equal stacks are stored once."""

    def __init__(self, thread: int, interval_s: float) -> None:
        super().__init__(name="tfprof_nb Python stacks", daemon=True)
        self._main, self._interval_s = thread, interval_s
        self._ended = threading.Event()
        self._stacks: dict[tuple[int, ...], int] = {}
        self._places: list[list[Instruction]] = []
        self._samples: list[tuple[int, int, int]] = []  # time (ns since 1970), thread, stack
        self._idle: dict[int, tuple[int, int]] = {}

    def run(self) -> None:
        wait, own = self._ended.wait, threading.get_ident()
        while not wait(self._interval_s):
            now = time.time_ns()
            for thread, frame in sys._current_frames().items():  # noqa: SLF001  (the only way to see other threads)
                if thread == self._main:
                    self._samples.append((now, thread, self._stack(frame)))
                elif thread != own:
                    self._sample_feeder(now, thread, frame)

    def _sample_feeder(self, now: int, thread: int, frame: FrameType) -> None:
        """Sample a thread of TensorFlow's that runs Python; most threads wait in one place and are skipped cheaply."""
        at = id(frame), frame.f_lasti
        if self._idle.get(thread) == at:
            return
        outermost = frame
        while outermost.f_back is not None:
            outermost = outermost.f_back
        if outermost.f_code.co_filename.endswith(_FEEDERS):
            self._samples.append((now, thread, self._stack(frame)))
        else:
            self._idle[thread] = at

    def _stack(self, frame: FrameType | None) -> int:
        """Return the number of a stack, which is stored innermost first."""
        key: list[int] = []
        frames: list[Instruction] = []
        while frame is not None and len(frames) < _MAX_DEPTH:
            code, at = frame.f_code, frame.f_lasti
            key += (id(code), at)
            frames.append((code, at))
            frame = frame.f_back
        found = self._stacks.setdefault(tuple(key), len(self._places))
        if found == len(self._places):
            self._places.append(frames)  # which keeps the code, and its id, alive
        return found

    def end(self) -> None:
        self._ended.set()
        if self.is_alive():
            self.join()

    def gather(self) -> PythonSection:
        """End, and return the section (docs/sidecar.md)."""
        self.end()
        strings, functions, places = Interned[str](), Interned[tuple[str, str]](), Interned[tuple[int, int]]()
        generated, stacks = origins(), []
        for frames in self._places:
            own = [_place(code, at, generated) for code, at in frames]
            lines = [(functions.number((place.function, place.file)), place.line) for place in own]
            stacks.append(places.numbers(lines))
        threads = Interned[int]()
        threads.number(self._main)
        return PythonSection(
            interval_ns=round(self._interval_s * 1e9),
            functions={
                "name": strings.numbers(name for name, _ in functions.values()),
                "file": strings.numbers(file for _, file in functions.values()),
                "users": [is_users(file) for _, file in functions.values()],
            },
            places={"function": [one for one, _ in places.values()], "line": [line for _, line in places.values()]},
            stacks=stacks,
            samples={
                "time_ns": [time_ns for time_ns, _, _ in self._samples],
                "thread": threads.numbers(thread for _, thread, _ in self._samples),
                "stack": [stack for _, _, stack in self._samples],
            },
            strings=strings.values(),
        )


def _place(code: CodeType, at: int, generated: Mapping[tuple[str, int], Place]) -> Place:
    """Return where an instruction stands, or stood before AutoGraph converted its function."""
    line = _line(code, at)
    place = Place(code.co_qualname, code.co_filename, line)
    return generated.get((code.co_filename, line), place)


def _line(code: CodeType, at: int) -> int:
    """Return the line of an instruction."""
    lines = _line_table(code)
    k = bisect_right(lines, at, key=itemgetter(0)) - 1
    return lines[k][1] if k >= 0 else code.co_firstlineno


def _line_table(code: CodeType) -> list[tuple[int, int]]:
    """Return where each line's instructions start, and the line."""
    return [(start, line) for start, _, line in code.co_lines() if line is not None]
