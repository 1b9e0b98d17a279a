"""The parts of TensorFlow that a capture uses, imported when first needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tfprof_nb._errors import MissingDependencyError
from tfprof_nb.capture.sidecar import Gather
from tfprof_nb.formats.sidecar import VersionsSection

_NVIDIA_DRIVER = Path("/proc/driver/nvidia/gpus")  # a folder per GPU, on Linux


def tensorflow() -> Any:
    """Import TensorFlow, or raise an error that says how to install it."""
    try:
        import tensorflow as tf
    except ModuleNotFoundError as error:
        if error.name != "tensorflow":
            raise
        raise MissingDependencyError(
            'Capturing a profile needs TensorFlow, which is not installed here: pip install "tfprof_nb[tensorflow]". '
            "Existing profiles can be read without it: tfprof_nb.load(path)."
        ) from None
    return tf


@cache
def trace_class() -> Any:
    """Return ``tf.profiler.experimental.Trace``; cached, because looking it up takes longer than making a trace."""
    return tensorflow().profiler.experimental.Trace


def iterator_class() -> Any:
    """Return the class of tf.data's iterators in Python."""
    from tensorflow.python.data.ops.iterator_ops import OwnedIterator

    return OwnedIterator


def is_tracing() -> bool:
    """Whether a profiler is recording events of the host, whoever started it."""
    from tensorflow.python.profiler import trace

    return bool(trace.enabled())


def profiler_is_started() -> bool:
    """Whether ``tf.profiler.experimental`` has a session; there is no public way to ask."""
    from tensorflow.python.profiler import profiler_v2

    return profiler_v2._profiler is not None  # noqa: SLF001


def session_module() -> ModuleType:
    """Return the module that holds the class of profiler sessions."""
    from tensorflow.python.profiler import profiler_v2

    module: ModuleType = profiler_v2._pywrap_profiler  # noqa: SLF001
    return module


def session_class() -> Any:
    """Return the class of profiler sessions, as it is now."""
    return session_module().ProfilerSession


@contextmanager
def versions() -> Iterator[Gather]:
    """Collect TensorFlow's version, the number of GPUs that it sees, and whether the machine has one."""
    yield _gather


def _gather() -> VersionsSection:
    tf = tensorflow()
    return VersionsSection(
        tensorflow=tf.__version__,
        visible_gpus=len(tf.config.list_physical_devices("GPU")),
        has_nvidia_gpu=_NVIDIA_DRIVER.is_dir() and any(_NVIDIA_DRIVER.iterdir()),
    )
