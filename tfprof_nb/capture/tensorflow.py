"""The parts of TensorFlow that a capture uses, imported when first needed."""

from __future__ import annotations

from functools import cache
from typing import Any

from tfprof_nb._errors import MissingDependencyError


def tensorflow() -> Any:
    """Import TensorFlow, or say how to get it."""
    try:
        import tensorflow as tf
    except ModuleNotFoundError as error:
        if error.name != "tensorflow":
            raise
        raise MissingDependencyError(
            'Capturing a profile needs TensorFlow, which is not installed here: pip install "tfprof_nb[tensorflow]". '
            "Profiles that exist already can be read without it: tfprof_nb.load(path)."
        ) from None
    return tf


@cache
def trace_class() -> Any:
    """Return ``tf.profiler.experimental.Trace``: looking it up takes longer than making one."""
    return tensorflow().profiler.experimental.Trace


def profiler_session() -> object | None:
    """Return the session that ``tf.profiler.experimental`` keeps, or None where it has none."""
    from tensorflow.python.profiler import profiler_v2

    session: object | None = profiler_v2._profiler  # noqa: SLF001  (there is no public way to ask)
    return session


def forget_profiler_session() -> None:
    """Make ``tf.profiler.experimental`` forget its session, as it should have done itself."""
    from tensorflow.python.profiler import profiler_v2

    profiler_v2._profiler = None  # noqa: SLF001  (there is no public way to do it)
