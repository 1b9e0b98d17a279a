"""Threads that watch a program at an interval, and leave its garbage to its own threads.

What an object does at its end may take seconds, as with an iterator of TensorFlow, or need the thread that made it.
Python collects garbage in any thread that allocates objects: these do so while collection is off, and wait for a lock,
which allocates none.
"""

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Self

_lock = threading.Lock()
_running, _collects = 0, False  # tickers that run now; whether garbage was collected before


class Ticker(threading.Thread):
    """A thread that calls a function with itself, which iterates over it: once an interval, until it is ended.

    Examples
    --------
    >>> def look(ticker):
    ...     for _ in ticker:
    ...         print(gc.isenabled())
    ...         ticker.end()
    >>> ticker = Ticker(look, 0.01, "looks once")
    >>> ticker.start()
    >>> ticker.join()
    False
    >>> gc.isenabled()
    True
    """

    def __init__(self, look: Callable[[Self], None], interval_s: float, name: str) -> None:
        super().__init__(target=look, args=(self,), name=f"tfprof_nb {name}", daemon=True)
        self.interval_s, self.ended = interval_s, False
        self._held = threading.Lock()
        self._held.acquire()

    def __iter__(self) -> Iterator[None]:
        while True:
            _collect()
            ended = self._held.acquire(True, self.interval_s)
            _collect_nothing()
            if ended:
                return
            yield

    def start(self) -> None:
        """Start the thread."""
        _collect_nothing()
        super().start()

    def run(self) -> None:
        """Call the function, in the thread."""
        try:
            super().run()
        finally:
            _collect()

    def end(self) -> None:
        """End, without waiting for what the thread does now."""
        if not self.ended:
            self.ended = True
            self._held.release()


def _collect_nothing() -> None:
    global _running, _collects  # noqa: PLW0603
    _lock.acquire()
    if not _running:
        _collects = gc.isenabled()
        gc.disable()
    _running += 1
    _lock.release()


def _collect() -> None:
    global _running  # noqa: PLW0603
    _lock.acquire()
    _running -= 1
    if not _running and _collects:
        gc.enable()
    _lock.release()  # `with` would make an object here
