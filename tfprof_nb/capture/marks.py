"""Step marks: events that tell every reader of a profile where a step begins and ends.

A mark is a trace event with the step's number and a flag for the root of everything that runs inside it. If the step is
not complete, the mark also says why (`formats.marks`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from tfprof_nb.capture.tensorflow import trace_class
from tfprof_nb.formats.marks import END_OF_DATA, INTERRUPTED, ROOT, STEP_NUMBER

_HASH = "\N{FULLWIDTH NUMBER SIGN}"  # the profiler takes what follows a plain one for the mark's numbers


@dataclass(frozen=True, eq=False)
class Mark:
    """One open step."""

    trace: Any
    begin_again: Callable[[], Mark]

    @classmethod
    def of_step(cls, name: str, number: int, **metadata: int | str) -> Mark:
        """Begin a step here and now."""
        begin_again = partial(cls.of_step, name, number, **metadata)
        return cls(trace_class()(name.replace("#", _HASH), **{STEP_NUMBER: number, ROOT: 1}, **metadata), begin_again)

    def close(self, why: str = "") -> None:
        """End the step; if it is not complete, ``why`` is `END_OF_DATA` or `INTERRUPTED`."""
        if why:
            self.trace.set_metadata(**{why: 1})
        self.trace.__exit__(StopIteration if why else None, None, None)  # as `with` does when the step fails


class _OpenMarks(threading.local):
    """One thread's open marks with the objects that opened them, outermost first."""

    def __init__(self) -> None:
        self.stack: list[tuple[object, Mark]] = []
        self.owner: object = None  # of the mark that was opened last


_open = _OpenMarks()


def is_open() -> bool:
    """Whether a step is open on this thread."""
    return bool(_open.stack)


def newest_owner() -> object:
    """Return who opened the newest step of this thread."""
    return _open.owner


def open_mark(owner: object, name: str, number: int, **metadata: int | str) -> None:
    """Open step ``number`` on this thread, until `close_mark` is called with the same ``owner``."""
    _open.owner = owner
    _open.stack.append((owner, Mark.of_step(name, number, **metadata)))


def close_mark(owner: object) -> None:
    """Close the newest open step of ``owner`` on this thread, if any, and all that was left open inside it."""
    owned = [depth for depth, (opened_by, _) in enumerate(_open.stack) if opened_by is owner]
    if owned:
        _close_inside(owned[-1] + 1, INTERRUPTED)
        _close_inside(owned[-1])


def _close_inside(depth: int, why: str = "") -> None:
    while len(_open.stack) > depth:
        _, mark = _open.stack.pop()
        mark.close(why)


def begin_marks_again() -> None:
    """Begin this thread's open steps again, for a profiler that has just started and does not know them."""
    for depth, (owner, mark) in enumerate(_open.stack):
        _open.stack[depth] = (owner, mark.begin_again())


def close_marks() -> None:
    """Close this thread's open steps: all that still runs in them is the call that ends the profiler."""
    _close_inside(0)


@contextmanager
def no_mark_survives() -> Iterator[None]:
    """Close the marks that the block leaves open, which are steps that did not finish."""
    depth = len(_open.stack)
    try:
        yield
    except StopIteration:
        _close_inside(depth, END_OF_DATA)
        raise
    finally:
        _close_inside(depth, INTERRUPTED)


@contextmanager
def step(number: int, name: str = "train") -> Iterator[None]:
    """Mark one step of a custom training loop, so that the profile shows it as a step.

    Parameters
    ----------
    number
        The step's number. Count through the whole loop, do not start again at each epoch. A tensor or a variable
        (``optimizer.iterations``) is allowed.
    name
        The kind of step: ``"train"``, ``"test"``, ``"predict"``, or any other name.

    Raises
    ------
    MissingDependencyError
        If TensorFlow is not installed.

    Notes
    -----
    Fetch the batch inside the block: otherwise fetching belongs to no step, and the profile cannot tell how long the
    step waited for its data. A step that raises is marked ``interrupted``. Outside a capture a mark costs a few
    microseconds and has no effect.

    Examples
    --------
    >>> batches = iter([1.0, 2.0])
    >>> for i in range(2):
    ...     with step(i):
    ...         batch = next(batches)
    """
    owner = object()
    with no_mark_survives():
        open_mark(owner, name, int(number))  # TensorFlow drops a mark whose number is a tensor
        yield
        close_mark(owner)
