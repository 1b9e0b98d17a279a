"""One line that says what is going on, gone when it is over: in notebooks and terminals, never in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tfprof_nb.render.display import in_notebook


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Give a function that shows a text in place of the one before."""
    shown = in_notebook() or sys.stdout.isatty()
    width = 0

    def say(text: str) -> None:
        nonlocal width
        if shown:
            print("\r" + text.ljust(width), end="", flush=True)  # noqa: T201
            width = max(width, len(text))

    try:
        yield say
    finally:
        if width:
            print("\r" + " " * width + "\r", end="", flush=True)  # noqa: T201
