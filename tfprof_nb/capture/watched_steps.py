"""Tells of marked steps that begin and end, whoever marks them, and of calls of functions and sessions that end."""

import functools
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.tensorflow import trace_class
from tfprof_nb.formats.marks import SESSION_CALL, STEP_NUMBER

T = TypeVar("T")
_HOW = "tf_function_call"  # what TensorFlow adds to a call's trace when the call ends


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


@contextmanager
def watched_calls(ended: Callable[[object, float], None]) -> Iterator[None]:
    """Watch the calls of functions on this thread, but those that are part of another function's graph, and sessions.

    ``ended`` gets the function's name, or what tells runs of a session apart, and the seconds that the call took. A run
    of a session gets an event.
    """
    from tensorflow.python.client.session import BaseSession
    from tensorflow.python.eager.context import executing_eagerly

    trace, thread = trace_class(), threading.get_ident()
    begin, add, run = trace.__init__, trace.set_metadata, vars(BaseSession)["_do_run"]

    @functools.wraps(begin)
    def init(self: Any, name: str, **kwargs: Any) -> None:
        self.began = name, time.monotonic()
        begin(self, name, **kwargs)

    @functools.wraps(add)
    def set_metadata(self: Any, **kwargs: Any) -> None:
        add(self, **kwargs)
        known = getattr(self, "began", None)  # not of a call that was running when this began
        if known and _HOW in kwargs and threading.get_ident() == thread and executing_eagerly():
            name, began = known
            ended(name, time.monotonic() - began)

    @functools.wraps(run)
    def do_run(self: Any, handle: Any, targets: Any, fetches: Any, *args: Any) -> Any:
        __tracebackhide__ = True
        began = time.monotonic()
        with trace(SESSION_CALL):
            values = run(self, handle, targets, fetches, *args)
        if threading.get_ident() == thread:
            ended((SESSION_CALL, *map(id, targets), *map(id, fetches)), time.monotonic() - began)
        return values

    with ExitStack() as undo:
        undo.enter_context(replaced(trace, "__init__", init))
        undo.enter_context(replaced(trace, "set_metadata", set_metadata))
        undo.enter_context(replaced(BaseSession, "_do_run", do_run))
        yield
