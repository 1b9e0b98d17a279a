"""Programs whose captures tests read: `make captures` runs and records them (tests/captures/README.md)."""

from typing import NamedTuple


def program(function=None, *, warm_up=True):
    """Mark a function as a program, which runs once before it is recorded.

    If it returns a function, that is the program, and the rest is what was there before. Such a program may be recorded
    cold, without ``warm_up``.
    """
    if function is None:
        return lambda function: program(function, warm_up=warm_up)
    function.warm_up = warm_up
    return function


class Cells(NamedTuple):
    """A program in a notebook: a cell of definitions, and the cell to profile, each as text."""

    setup: str
    cell: str
