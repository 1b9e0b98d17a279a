"""Delay interrupts: a capture must start and end completely, or the next one finds what is left of it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tfprof_nb.capture.graphs.source_lines import is_users


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Delay an interrupt (Ctrl+C, or the kernel's) until the block has ended."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield  # this thread gets no interrupts
        return
    arrived = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: arrived.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if arrived.is_set():
            signal.raise_signal(signal.SIGINT)


def end_in_users_code(interrupt: KeyboardInterrupt) -> None:
    """Cut an interrupt's traceback behind the last line of the user's: where in a library it came says nothing."""
    last, entry = None, interrupt.__traceback__
    while entry is not None:
        if is_users(entry.tb_frame.f_code.co_filename):
            last = entry
        entry = entry.tb_next
    if last is not None:
        last.tb_next = None
