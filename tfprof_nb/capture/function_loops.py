"""Marks of the loops in the user's functions, from Python 3.12 on: an event where each pass begins.

The cell's own loops are marked by `lines`. Functions outlive the capture, so their code stays as it is, and
``sys.monitoring`` tells when a loop goes back to its head. A loop of short passes is not followed: it makes no steps.
"""

from __future__ import annotations

import dis
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns
from traceback import walk_stack
from types import CodeType
from typing import Any

from tfprof_nb.capture.graphs.source_lines import is_users
from tfprof_nb.capture.line_clock import MARK
from tfprof_nb.capture.tensorflow import trace_class
from tfprof_nb.formats.marks import ITERATION, LOOP_LINE

_TRIED = 100  # passes, after which a loop is left alone if they took less than this on average
_SHORT_NS = 200_000
_TOOL_IDS = (2, 3, 4)  # 2 is for profilers, 3 and 4 are for anyone


@contextmanager
def function_loops() -> Iterator[None]:
    """Mark the passes of loops in the user's functions on this thread while the block runs, if Python can tell."""
    if sys.version_info < (3, 12):
        yield
        return
    monitoring: Any = sys.monitoring
    tool = next((number for number in _TOOL_IDS if monitoring.get_tool(number) is None), None)
    if tool is None:  # other tools watch the program
        yield
        return
    monitoring.use_tool_id(tool, "tfprof_nb")
    watch = _Watch(monitoring, tool)
    try:
        watch.begin()
        yield
    finally:
        watch.end()
        monitoring.free_tool_id(tool)


class _Loop:
    """A loop of a function: which pass of it began last and when, and how long its passes took."""

    def __init__(self, name: str) -> None:
        self.name, self.number, self.passes, self.spent_ns, self.since_ns = name, 0, 0, 0, 0
        self.came_back = False  # whether its head is reached by a jump


class _Watch:
    """Watches the functions of the user that run, each from its first call on."""

    def __init__(self, monitoring: Any, tool: int) -> None:
        self._monitoring, self._tool, self._thread = monitoring, tool, threading.get_ident()
        self._by_target: dict[CodeType, dict[int, _Loop]] = {}
        self._by_line: dict[CodeType, dict[int, _Loop]] = {}
        self._trace = trace_class()

    def begin(self) -> None:
        events, register = self._monitoring.events, self._monitoring.register_callback
        register(self._tool, events.PY_START, self._started)
        register(self._tool, events.JUMP, self._jumped)
        register(self._tool, events.LINE, self._reached)
        for frame, _ in walk_stack(None):  # functions that run already
            self._started(frame.f_code)
        self._monitoring.set_events(self._tool, events.PY_START)

    def end(self) -> None:
        events = self._monitoring.events
        self._monitoring.set_events(self._tool, events.NO_EVENTS)
        for code in self._by_target:
            self._monitoring.set_local_events(self._tool, code, events.NO_EVENTS)
        for event in (events.PY_START, events.JUMP, events.LINE):
            self._monitoring.register_callback(self._tool, event, None)

    def _started(self, code: CodeType, _: int = 0) -> Any:
        if code not in self._by_target and is_users(code.co_filename) and (heads := _heads(code)):
            loops = {line: _Loop(f"{LOOP_LINE}{code.co_qualname}:{line}") for line in heads}
            self._by_line[code] = loops
            self._by_target[code] = {target: loops[line] for line, target in heads.items()}
            events = self._monitoring.events
            self._monitoring.set_local_events(self._tool, code, events.JUMP | events.LINE)
        return self._monitoring.DISABLE

    def _jumped(self, code: CodeType, _: int, target: int) -> Any:
        loop = self._by_target[code].get(target)
        if loop is None:
            return self._monitoring.DISABLE
        if threading.get_ident() != self._thread:
            return None
        now = perf_counter_ns()
        loop.passes, loop.spent_ns = loop.passes + 1, loop.spent_ns + now - loop.since_ns
        if loop.passes >= _TRIED and loop.spent_ns < _SHORT_NS * loop.passes:
            return self._monitoring.DISABLE
        loop.came_back = True
        self._mark(loop, loop.number + 1, now)
        return None

    def _reached(self, code: CodeType, line: int) -> Any:
        loop = self._by_line[code].get(line)
        if loop is None or (loop.passes >= _TRIED and loop.spent_ns < _SHORT_NS * loop.passes):
            return self._monitoring.DISABLE
        if threading.get_ident() == self._thread:
            if not loop.came_back:
                self._mark(loop, 0, perf_counter_ns())
            loop.came_back = False
        return None

    def _mark(self, loop: _Loop, number: int, now: int) -> None:
        loop.number, loop.since_ns = number, now
        with self._trace(loop.name, **{ITERATION: number}):
            pass


def _heads(code: CodeType) -> dict[int, int]:
    """Return the loops of a function: the line of each loop's head, and the offset of the instruction to go back to.

    Loops on one line, such as comprehensions, are left out; of loops with the same head, all but the outermost.
    """
    if any(name.startswith(MARK) for name in code.co_names):  # the cell itself
        return {}
    jumps = [step for step in dis.get_instructions(code) if step.opname.startswith("JUMP_BACKWARD")]
    heads: dict[int, int] = {}
    for step in jumps:
        line = _line_at(code, step.argval)
        if line and _line_at(code, step.offset) != line:
            heads[line] = min(heads.get(line, step.argval), step.argval)
    return heads


def _line_at(code: CodeType, offset: int) -> int:
    return next((line or 0 for start, end, line in code.co_lines() if start <= offset < end), 0)
