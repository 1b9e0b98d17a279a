"""Work for the time when the kernel is idle: when a cell begins, it stops; when the cell has ended, it begins again.

A thread does it. It stops wherever it is, as with Ctrl+C, so work must be able to begin again.
"""

import contextvars
import ctypes
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

_PAUSE_S = 0.3  # after a cell: of several cells that run one after another, the next has begun by then


class _CellBegan(BaseException):
    """Stops the thread."""


class _Idle:
    def __init__(self) -> None:
        self._work: deque[tuple[Callable[[], None], contextvars.Context]] = deque()
        self._thread: threading.Thread | None = None
        self._shell: Any = None
        self._cell_runs = False

    def add(self, work: Callable[[], None]) -> None:
        self._work.append((work, contextvars.copy_context()))
        ipython: Any = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython else None
        if shell is not None and shell is not self._shell:
            self._shell, self._cell_runs = shell, True  # the cell that adds this
            shell.events.register("pre_execute", self._cell_begins)
            shell.events.register("post_execute", self._cell_ended)

    def _cell_begins(self) -> None:
        self._cell_runs = True
        self.stop()

    def _cell_ended(self) -> None:
        self._cell_runs = False
        self.begin()

    def begin(self) -> None:
        if self._work and not self._cell_runs and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(target=self._run, name="tfprof_nb pages", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None and thread.ident is not None and thread.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_CellBegan))

    def _run(self) -> None:
        with suppress(_CellBegan):
            time.sleep(_PAUSE_S)
            while self._work:
                work, context = self._work[0]
                with suppress(Exception):  # whoever needs the result gets the error
                    context.copy().run(work)
                self._work.popleft()


_idle = _Idle()


def when_idle(work: Callable[[], None]) -> None:
    """Call a function when no cell runs, in the context of now; again if a cell has interrupted it."""
    _idle.add(work)


@contextmanager
def someone_waits() -> Iterator[None]:
    """Stop such work while the block runs: a reader waits for its result."""
    _idle.stop()
    try:
        yield
    finally:
        _idle.begin()
