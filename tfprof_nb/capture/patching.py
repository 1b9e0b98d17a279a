"""Replace attributes of other packages while a capture runs."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from tfprof_nb.capture.tensorflow import trace_class

Hook = Callable[..., object]


@contextmanager
def replaced(owner: type | ModuleType, name: str, replacement: Any) -> Iterator[None]:
    """Replace one attribute of a class or module while the block runs."""
    original = vars(owner)[name]
    setattr(owner, name, replacement)
    try:
        yield
    finally:
        if vars(owner)[name] is replacement:  # otherwise someone else replaced it after us
            setattr(owner, name, original)


@contextmanager
def hooked(owner: type, name: str, before: Hook | None = None, after: Hook | None = None) -> Iterator[None]:
    """Call functions with the arguments of each call of a method: before it, and after it where it returns."""
    method = vars(owner)[name]

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if before:
            before(*args, **kwargs)
        result = method(*args, **kwargs)
        if after:
            after(*args, **kwargs)
        return result

    with replaced(owner, name, call):
        yield


def leaving_event(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function each call of which leaves an event, in which all that it does lies."""
    trace = trace_class()

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        with trace(name):
            return function(*args, **kwargs)

    return call
