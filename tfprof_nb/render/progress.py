"""A line of progress that vanishes at the end, in notebooks and terminals; output to files has none."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from markupsafe import Markup

from tfprof_nb.render.display import Place, in_notebook
from tfprof_nb.render.markup import element

_BAR = 20
_instead: ContextVar[Callable[[str], None] | None] = ContextVar("_instead", default=None)


@contextmanager
def progress_shown_by(show: Callable[[str], None]) -> Iterator[None]:
    """Let a function show the progress of what the block runs, in place of a printed line."""
    token = _instead.set(show)
    try:
        yield
    finally:
        _instead.reset(token)


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a text in place of the last one."""
    if instead := _instead.get():
        yield instead
        return
    if in_notebook():
        yield from _in_place()
        return
    shown = sys.stdout.isatty()
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


def _in_place() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a text as an output of its own, which is empty at the end."""
    place, said = Place(has_widget=False), False

    def show(text: str) -> None:
        nonlocal said
        place.reserve(element("div", text, style="font-size:13px;white-space:pre-wrap"), text)
        said = True

    try:
        yield show
    finally:
        if said:
            place.reserve(Markup(), "")


def progress_bar(show: Callable[[str], None], text: str, share: float) -> None:
    """Show a bar of which a share (0 to 1) is full, and a text."""
    full = round(share * _BAR)
    show(f"[{'█' * full}{'·' * (_BAR - full)}] {text}")
