"""The time that methods of Keras callbacks take: each call leaves an event, such as ``callback History.on_epoch_end``.

Methods are wrapped on the callback objects themselves while a capture runs; afterwards the objects are as they were.
"""

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from weakref import WeakSet

from tfprof_nb.capture.tensorflow import trace_class
from tfprof_nb.formats.marks import CALLBACK, PHASES

_METHODS = (
    "on_epoch_begin",
    "on_epoch_end",
    "on_batch_begin",
    "on_batch_end",
    *(f"on_{phase}_{moment}" for phase in PHASES for moment in ("end", "batch_begin", "batch_end")),
)


class TimedCallbacks:
    """Wraps methods of callbacks, except callbacks of this package and methods that a class does not define."""

    def __init__(self) -> None:
        self._lists, self._undo = WeakSet[Any](), ExitStack()

    def watch(self, callback_list: Any) -> None:
        """Wrap the methods of the callbacks in a Keras ``CallbackList``, once."""
        if callback_list in self._lists:
            return
        self._lists.add(callback_list)
        for callback in callback_list.callbacks:
            if not type(callback).__module__.startswith("tfprof_nb."):
                for method in _METHODS:
                    self._wrap(callback, method)

    def _wrap(self, callback: Any, method: str) -> None:
        own = vars(callback).get(method)
        if own is None and not _is_defined(type(callback), method):
            return
        try:
            setattr(
                callback, method, _timed(getattr(callback, method), f"{CALLBACK}{type(callback).__name__}.{method}")
            )
        except (AttributeError, TypeError):  # the class allows no attributes of instances
            return
        if own is None:
            self._undo.callback(delattr, callback, method)
        else:
            self._undo.callback(setattr, callback, method, own)

    def stop(self) -> None:
        """Restore the callbacks."""
        self._undo.close()
        self._lists.clear()


def _is_defined(kind: type, method: str) -> bool:
    """Whether a class has a method of its own, and not that of Keras' ``Callback``, which does nothing."""
    owner = next((base for base in kind.__mro__ if method in vars(base)), None)
    return owner is not None and not (owner.__name__ == "Callback" and owner.__module__.startswith("keras."))


def _timed(method: Callable[..., None], name: str) -> Callable[..., None]:
    trace = trace_class()

    @functools.wraps(method)
    def timed(*args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        with trace(name):
            method(*args, **kwargs)

    return timed
