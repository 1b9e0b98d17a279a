"""How much TensorFlow's running profiler records of the host: a level that can be changed while it records.

TensorFlow takes the level when a session starts. Its tracer compares each event's level with a number in the library
(`tsl/profiler/lib/traceme_recorder.h`), which the end of the session resets.
"""

import ctypes
from functools import cache
from pathlib import Path

from tfprof_nb.capture.tensorflow import tensorflow

NOTHING, MARKS, OPS = 0, 1, 2
"""Levels of events: none; step marks, calls and callbacks, compiling, what threads of tf.data hand on; also ops."""

_TRACE_LEVEL = "_ZN3tsl8profiler8internal13g_trace_levelE"


def can_change_level() -> bool:
    """Whether this TensorFlow has the number, no GPU, whose events have no level, and runs a call's ops within it."""
    config = tensorflow().config
    waits = config.experimental.get_synchronous_execution()
    return waits and _level() is not None and not config.list_physical_devices("GPU")


def set_level(level: int) -> None:
    """Record events up to a level from now on, if a profiler is recording: without one, none could start."""
    if (number := _level()) is not None and number.value >= NOTHING:
        number.value = level


@cache
def _level() -> ctypes.c_int | None:
    for library in Path(tensorflow().sysconfig.get_lib()).glob("libtensorflow_framework.*"):
        try:
            return ctypes.c_int.in_dll(ctypes.CDLL(str(library)), _TRACE_LEVEL)
        except (OSError, ValueError):
            continue
    return None
