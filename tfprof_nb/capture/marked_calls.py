"""Let calls that may take seconds leave events: the reading and writing of models, and the ends of iterators.

Programs hold `load_model` itself, so what it calls is wrapped: functions that their module looks up by name.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.tensorflow import iterator_class, tensorflow, trace_class
from tfprof_nb.formats.marks import ITERATOR_END, MODEL_FILE

_FUNCTIONS = (
    ("keras.src.saving.saving_lib", "load_model", "load_model"),
    ("keras.src.saving.saving_lib", "save_model", "save_model"),
    ("keras.src.saving.saving_lib", "load_weights_only", "load_weights"),
    ("keras.src.saving.saving_lib", "save_weights_only", "save_weights"),
    ("keras.src.legacy.saving.legacy_h5_format", "load_model_from_hdf5", "load_model"),
    ("keras.src.legacy.saving.legacy_h5_format", "save_model_to_hdf5", "save_model"),
    ("tensorflow.python.saved_model.load", "load_partial", "saved_model.load"),
    ("tensorflow.python.saved_model.save", "save_and_return_nodes", "saved_model.save"),
)


@contextmanager
def model_files() -> Iterator[None]:
    """While the block runs, mark what reads and writes models, in modules that are loaded."""
    with ExitStack() as undo:
        for module, function, name in _FUNCTIONS:
            owner = sys.modules.get(module)
            if owner is not None and function in vars(owner):
                undo.enter_context(replaced(owner, function, _leaving_event(vars(owner)[function], name)))
        yield


def _leaving_event(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    trace = trace_class()

    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        with trace(f"{MODEL_FILE}{name}"):
            return original(*args, **kwargs)

    return call


@contextmanager
def iterator_ends() -> Iterator[None]:
    """While the block runs, let iterators mark their ends: a last reference may be one that no line names.

    TensorFlow records an event of its own where it records ops; a wait of seconds may come when it does not.
    """
    owner = iterator_class()
    with replaced(owner, "_create_iterator", _with_end(owner._create_iterator)):  # noqa: SLF001
        yield


def _with_end(original: Callable[..., None]) -> Callable[..., None]:
    eagerly, trace = tensorflow().executing_eagerly, trace_class()

    @wraps(original)
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
