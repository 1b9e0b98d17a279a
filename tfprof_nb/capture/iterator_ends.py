"""Let the end of each iterator over a dataset leave an event: its last reference may be one that no line names.

TensorFlow records an event of its own where it records ops; a wait of seconds may come when it does not.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.tensorflow import iterator_class, tensorflow, trace_class
from tfprof_nb.formats.marks import ITERATOR_END


@contextmanager
def iterator_ends() -> Iterator[None]:
    """While the block runs, let iterators that are made mark their ends."""
    owner = iterator_class()
    with replaced(owner, "_create_iterator", _with_end(owner._create_iterator)):  # noqa: SLF001
        yield


def _with_end(original: Callable[..., None]) -> Callable[..., None]:
    eagerly, trace = tensorflow().executing_eagerly, trace_class()

    @functools.wraps(original)
    def create(iterator: Any, *args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        original(iterator, *args, **kwargs)
        if eagerly():
            iterator._tfprof_nb_end = _End(iterator._iterator_resource, trace)  # noqa: SLF001

    return create


class _End:
    """Holds what an iterator holds, and lets go of it last."""

    def __init__(self, resource: Any, trace: Any) -> None:
        self._resource, self._trace = resource, trace

    def __del__(self) -> None:
        with self._trace(ITERATOR_END):
            del self._resource
