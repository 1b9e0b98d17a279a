"""The lines of a notebook cell: how often and how long each statement ran, and an event in the profile for each run.

A mark, which is a call, is inserted before each statement that the cell itself runs: at its top level and in its loops,
conditions, ``with``, ``try`` and ``match`` blocks. Bodies of functions and classes are not changed: functions outlive
the capture, and TensorFlow converts some of them.
"""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from time import time_ns
from typing import Any

from tfprof_nb.capture.line_clock import LineClock, mark_name
from tfprof_nb.capture.sidecar import Gather
from tfprof_nb.formats.marks import CELL_LINE
from tfprof_nb.formats.sidecar import CellSection

_BLOCKS = ("body", "orelse", "finalbody")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_RETURNED_TO = (*_LOOPS, ast.With, ast.AsyncWith)  # statements that run code of their own after their body
_UNMARKED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class CellLines:
    """Marks and times the statements of a cell: a collector of the sidecar's section ``cell``.

    Parameters
    ----------
    text
        The cell's text; its first line is line 1.
    """

    def __init__(self, text: str) -> None:
        self.text, self._file, self._lines, self._heads = text, "", list[int](), set[int]()
        self._began_ns = self._ended_ns = 0

    @cached_property
    def _clock(self) -> LineClock:
        return LineClock([f"{CELL_LINE}{line}" for line in self._lines], self._heads)

    def mark(self, body: list[ast.stmt], file: str) -> list[ast.stmt]:
        """Return statements of the cell, which is compiled as ``file``, with marks inserted."""
        self._file = file
        return self._marked(body, loop=None)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within the block, run the marked statements."""
        with self._clock.installed():
            self._began_ns = time_ns()
            try:
                yield
            finally:
                self._ended_ns = time_ns()

    @contextmanager
    def recorded(self) -> Iterator[Gather]:
        """Count and time the statements while the block runs; yield what returns the section."""
        self._clock.start()
        try:
            yield self._section
        finally:
            self._clock.stop()

    def _marked(self, body: list[ast.stmt], loop: ast.stmt | None) -> list[ast.stmt]:
        """Return statements with marks; ``loop`` is the loop that a ``continue`` among them continues."""
        out: list[ast.stmt] = []
        for statement in body:
            if not (_is_future(statement) or (not out and _is_docstring(statement))):  # must stay first
                out.append(self._mark_before(statement))
            if loop and isinstance(statement, ast.Continue):
                out.append(self._mark_before(loop))
            out.append(statement)
            if not isinstance(statement, _UNMARKED):
                self._mark_blocks(statement, loop)
        return out

    def _mark_blocks(self, statement: ast.stmt, loop: ast.stmt | None) -> None:
        parts: list[Any] = [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
        for part in parts:
            for name in _BLOCKS:
                if getattr(part, name, None):
                    within = statement if isinstance(statement, _LOOPS) and name == "body" else loop
                    setattr(part, name, self._marked(getattr(part, name), within))
        if isinstance(statement, _RETURNED_TO):
            statement.body.append(self._mark_before(statement))

    def _mark_before(self, statement: ast.stmt) -> ast.stmt:
        """Return a mark for a statement. It is no expression, because IPython can be set to show all expressions."""
        call = ast.Call(ast.Name(mark_name(len(self._lines)), ast.Load()), [], [])
        if isinstance(statement, _LOOPS):
            self._heads.add(len(self._lines))
        self._lines.append(statement.lineno)
        return ast.fix_missing_locations(ast.copy_location(ast.If(call, [ast.Pass()], []), statement))

    def _section(self) -> CellSection:
        clock = self._clock
        places = sorted(range(len(self._lines)), key=self._lines.__getitem__)
        return CellSection(
            text=self.text,
            file=self._file,
            line=[self._lines[place] for place in places],
            hits=[clock.hits[place] for place in places],
            spent_ns=[clock.spent_ns[place] for place in places],
            estimated=sorted({self._lines[place] for place in clock.estimated}),
            first=self._line_of(clock.first),
            last=self._line_of(clock.last),
            began_ns=self._began_ns,
            ended_ns=self._ended_ns,
        )

    def _line_of(self, place: int) -> int:
        return self._lines[place] if place >= 0 else 0


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
