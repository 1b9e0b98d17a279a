"""Interrupts that wait: what a capture begins or undoes must be whole, or the next capture finds the rest of it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Let an interrupt wait until the block has ended; it is raised then."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield  # no interrupt arrives here
        return
    arrived = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: arrived.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if arrived.is_set():
            signal.raise_signal(signal.SIGINT)
