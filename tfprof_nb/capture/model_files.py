"""Let each reading and writing of a model leave an event, such as ``model file load_model``.

Programs hold `load_model` itself, so what it calls is wrapped: functions that their module looks up by name.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.tensorflow import trace_class
from tfprof_nb.formats.marks import MODEL_FILE

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
