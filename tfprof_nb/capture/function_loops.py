"""Marks of the loops in the user's functions, from Python 3.12 on, and of gradients: an event where each pass begins.

The cell's own loops are marked by `lines`. Functions outlive the capture, so their code stays as it is, and
``sys.monitoring`` tells which lines they reach. A loop of short passes is not followed: it makes no steps.
"""

import ast
import inspect
import linecache
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import dedent
from time import perf_counter_ns
from traceback import walk_stack
from types import CodeType
from typing import Any

from tfprof_nb.capture.graphs.source_lines import is_users
from tfprof_nb.capture.line_clock import MARK
from tfprof_nb.capture.patching import hooked
from tfprof_nb.capture.tensorflow import trace_class
from tfprof_nb.formats.marks import GRADIENTS, ITERATION, LOOP_LINE

_TRIED = 100  # passes, after which a loop is left alone if they took less than this on average
_SHORT_NS = 200_000
_TOOL_IDS = (2, 3, 4)  # 2 is for profilers, 3 and 4 are for anyone
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@contextmanager
def gradients() -> Iterator[None]:
    """Mark where a tape is asked for gradients outside of any function while the block runs: once in each step."""
    from tensorflow.python.eager.backprop import GradientTape
    from tensorflow.python.eager.context import executing_eagerly

    counts = Counter[str]()

    def mark(*_: Any, **__: Any) -> None:
        if executing_eagerly():
            caller = sys._getframe(2)  # noqa: SLF001  (no other way is as quick)
            place = f"{GRADIENTS}{caller.f_code.co_qualname}:{caller.f_lineno}"
            _leave_event(place, counts[place])
            counts[place] += 1

    with hooked(GradientTape, "gradient", before=mark):
        yield


@contextmanager
def function_loops() -> Iterator[None]:
    """Mark the passes of loops in the user's functions on this thread while the block runs, if Python can tell."""
    monitoring: Any = getattr(sys, "monitoring", None)
    free = [number for number in _TOOL_IDS if monitoring and monitoring.get_tool(number) is None]
    if not free:  # an older Python, or other tools watch the program
        yield
        return
    monitoring.use_tool_id(free[0], "tfprof_nb")
    watch = _Watch(monitoring, free[0])
    try:
        watch.begin()
        yield
    finally:
        watch.end()
        monitoring.free_tool_id(free[0])


class _Loop:
    """A loop of a function: its first and last line, the pass that it is in, and how long its passes took."""

    def __init__(self, name: str, first: int, last: int) -> None:
        self.name, self.first, self.last = name, first, last
        self.number, self.passes, self.spent_ns, self.since_ns = 0, 0, 0, 0

    @property
    def is_short(self) -> bool:
        return self.passes >= _TRIED and self.spent_ns < _SHORT_NS * self.passes


class _Function:
    """A function with loops: them by the lines of their heads, those that it is in, and the lines that tell so."""

    def __init__(self, loops: dict[int, _Loop], telling: set[int]) -> None:
        self.loops, self.telling, self.inside = loops, telling, list[_Loop]()
        self.is_left_alone = False

    def leave_short(self) -> None:
        """Leave the function alone if all of its loops are short."""
        self.is_left_alone = all(loop.is_short for loop in self.loops.values())


class _Watch:
    """Watches the functions of the user that run, each from its first call on."""

    def __init__(self, monitoring: Any, tool: int) -> None:
        self._monitoring, self._tool, self._thread = monitoring, tool, threading.get_ident()
        self._functions: dict[CodeType, _Function] = {}

    def begin(self) -> None:
        events, register = self._monitoring.events, self._monitoring.register_callback
        register(self._tool, events.PY_START, self._started)
        register(self._tool, events.LINE, self._reached)
        for frame, _ in walk_stack(None):  # functions that run already
            self._started(frame.f_code)
        self._monitoring.set_events(self._tool, events.PY_START)

    def end(self) -> None:
        events = self._monitoring.events
        self._monitoring.set_events(self._tool, events.NO_EVENTS)
        for code in self._functions:
            self._monitoring.set_local_events(self._tool, code, events.NO_EVENTS)
        for event in (events.PY_START, events.LINE):
            self._monitoring.register_callback(self._tool, event, None)

    def _started(self, code: CodeType, _: int = 0) -> Any:
        function = self._functions.get(code)
        if function is None:
            function = _function(code) if is_users(code.co_filename) else None
            if function is None:
                return self._monitoring.DISABLE
            self._functions[code] = function
            self._monitoring.set_local_events(self._tool, code, self._monitoring.events.LINE)
        elif function.is_left_alone:
            return self._monitoring.DISABLE
        elif threading.get_ident() == self._thread:
            function.inside.clear()
        return None

    def _reached(self, code: CodeType, line: int) -> Any:
        function = self._functions[code]
        if function.is_left_alone or line not in function.telling:
            return self._monitoring.DISABLE
        if threading.get_ident() != self._thread:
            return None
        now, inside = perf_counter_ns(), function.inside
        while inside and not inside[-1].first <= line <= inside[-1].last:
            self._mark(inside[-1], inside.pop().number + 1, now)
        loop = function.loops.get(line)
        if loop is None:
            return None
        if inside and inside[-1] is loop:
            loop.passes, loop.spent_ns = loop.passes + 1, loop.spent_ns + now - loop.since_ns
            if loop.is_short:
                function.leave_short()
                return self._monitoring.DISABLE
            self._mark(loop, loop.number + 1, now)
        elif not loop.is_short:
            inside.append(loop)
            self._mark(loop, 0, now)
        return None

    def _mark(self, loop: _Loop, number: int, now: int) -> None:
        loop.number, loop.since_ns = number, now
        _leave_event(loop.name, number)


def _leave_event(name: str, number: int) -> None:
    with trace_class()(name, **{ITERATION: number}):
        pass


def _function(code: CodeType) -> _Function | None:
    """Return a function's loops; None if it has none, and for code of a cell that has marks."""
    if code.co_name.startswith("<") and (
        code.co_name != "<module>" or any(name.startswith(MARK) for name in code.co_names)
    ):
        return None
    above = max(code.co_firstlineno - 1, 0)
    try:
        source = ast.parse(_text(code, linecache.getlines(code.co_filename)[above:]))
    except Exception:  # noqa: BLE001  (the program itself would raise it)
        return None
    body = source.body if code.co_name == "<module>" or not source.body else getattr(source.body[0], "body", [])
    found = list(_loops(body))
    loops: dict[int, _Loop] = {}
    for loop in found:
        head = above + _head(loop)
        if head not in loops:
            name = f"{LOOP_LINE}{code.co_qualname}:{above + loop.lineno}"
            loops[head] = _Loop(name, above + loop.lineno, above + (loop.end_lineno or loop.lineno))
    inmost = [one for one in loops.values() if not any(one.first < other.first <= one.last for other in loops.values())]
    silent = {line for one in inmost for line in range(one.first, one.last + 1)} - set(loops)
    lines = {line for _, _, line in code.co_lines() if line}
    return _Function(loops, lines - silent) if loops else None


def _text(code: CodeType, lines: list[str]) -> str:
    return "".join(lines) if code.co_name == "<module>" else dedent("".join(inspect.getblock(lines)))


def _loops(body: list[Any]) -> Iterator[ast.For | ast.AsyncFor | ast.While]:
    """Yield the loops of several lines among statements, each before those that it holds."""
    for node in body:
        if isinstance(node, _LOOPS) and node.end_lineno != node.lineno:
            yield node
        if not isinstance(node, _SCOPES):
            yield from _loops(list(ast.iter_child_nodes(node)))


def _head(loop: ast.For | ast.AsyncFor | ast.While) -> int:
    """Return the line that each pass begins with: an endless loop does not come back to its own."""
    endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)
    return loop.body[0].lineno if endless else loop.lineno
