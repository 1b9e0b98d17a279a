"""A line of progress that vanishes at the end, in notebooks and terminals; output to files has none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tfprof_nb.render.display import in_notebook

_BAR = 20


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a text in place of the last one."""
    shown = in_notebook() or sys.stdout.isatty()
    width = 0

    def show(text: str) -> None:
        nonlocal width
        if shown:
            print("\r" + text.ljust(width), end="", flush=True)  # noqa: T201
            width = max(width, len(text))

    try:
        yield show
    finally:
        if width:
            print("\r" + " " * width + "\r", end="", flush=True)  # noqa: T201


def progress_bar(show: Callable[[str], None], text: str, share: float) -> None:
    """Show a bar of which a share (0 to 1) is full, and a text."""
    full = round(share * _BAR)
    show(f"[{'█' * full}{'·' * (_BAR - full)}] {text}")
