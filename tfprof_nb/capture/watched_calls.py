"""Tells of each call of a tf.function from Python that ends."""

import functools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.tensorflow import trace_class

_HOW = "tf_function_call"  # what TensorFlow adds to a call's trace when the call ends


@contextmanager
def watched_calls(ended: Callable[[str, float], None]) -> Iterator[None]:
    """Watch the calls of functions on this thread, but those that are part of another function's graph.

    ``ended`` gets the function's name and the seconds that the call took.
    """
    from tensorflow.python.eager.context import executing_eagerly

    trace, thread = trace_class(), threading.get_ident()
    begin, add = trace.__init__, trace.set_metadata

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

    with ExitStack() as undo:
        undo.enter_context(replaced(trace, "__init__", init))
        undo.enter_context(replaced(trace, "set_metadata", set_metadata))
        yield
