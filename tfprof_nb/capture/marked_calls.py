"""Let calls that may take seconds leave events: the reading and writing of models, and the ends of iterators.

Programs hold `load_model` itself, so what it calls is wrapped: functions that their module looks up by name.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tfprof_nb.capture.patching import hooked, leaving_event, replaced
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
                marked = leaving_event(vars(owner)[function], f"{MODEL_FILE}{name}")
                undo.enter_context(replaced(owner, function, marked))
        yield


@contextmanager
def iterator_ends() -> Iterator[None]:
    """While the block runs, let iterators mark their ends: a last reference may be one that no line names.

    TensorFlow records an event of its own where it records ops; a wait of seconds may come when it does not.
    """
    eagerly, trace = tensorflow().executing_eagerly, trace_class()

    def mark_end(iterator: Any, *_: Any, **__: Any) -> None:
        if eagerly():
            iterator._tfprof_nb_end = _End(iterator._iterator_resource, trace)  # noqa: SLF001

    with hooked(iterator_class(), "_create_iterator", after=mark_end):
        yield


class _End:
    """Holds what an iterator holds, and lets go of it last."""

    def __init__(self, resource: Any, trace: Any) -> None:
        self._resource, self._trace = resource, trace

    def __del__(self) -> None:
        with self._trace(ITERATOR_END):
            del self._resource
