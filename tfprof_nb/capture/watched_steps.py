"""Tells of each marked step that begins and ends, whoever marks it."""

import functools
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.tensorflow import trace_class
from tfprof_nb.formats.marks import STEP_NUMBER

T = TypeVar("T")


@contextmanager
def watched_steps(began: Callable[[str], T], ended: Callable[[T], None]) -> Iterator[None]:
    """Watch all marked steps, whoever marks them: a mark is a ``Trace`` with a step number.

    A mark inside another mark, as when a callback evaluates during training, is part of the outer step. ``began`` gets
    the mark's name, ``ended`` what ``began`` returned; it is not called for a step that an error or the end of the data
    cuts short.
    """
    trace, outermost = trace_class(), threading.local()
    begin, end = trace.__init__, trace.__exit__

    @functools.wraps(begin)
    def init(self: Any, name: str, **kwargs: Any) -> None:
        begin(self, name, **kwargs)
        if STEP_NUMBER in kwargs and _alive(outermost) is None:
            outermost.mark, outermost.token = weakref.ref(self), began(name)

    @functools.wraps(end)
    def exit_(self: Any, kind: Any, *error: Any) -> None:
        end(self, kind, *error)
        if _alive(outermost) is self:
            outermost.mark = None
            if kind is None:
                ended(outermost.token)

    with replaced(trace, "__init__", init), replaced(trace, "__exit__", exit_):
        yield


def _alive(outermost: Any) -> Any:
    mark = getattr(outermost, "mark", None)
    return mark and mark()
