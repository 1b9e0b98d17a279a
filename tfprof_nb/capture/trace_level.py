"""What TensorFlow's running profiler records of the host: up to which level, and without the marks of thread pools.

TensorFlow takes the level when a session starts. Its tracer compares each event's level with a number in the library
(`tsl/profiler/lib/traceme_recorder.h`), which the end of the session resets.

The profiler also marks when a closure is queued and when it runs: half of the events of a usual capture on a CPU, and a
third of the time that saving takes. No page shows these marks, XProf's tools do not count them, and there is no option
for them. Thread pools look for who collects them in places that `SetEventCollector` (`tsl/platform/tracing.h`) fills;
when the profiler stops, it empties them itself.
"""

import ctypes
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

from tfprof_nb.capture.tensorflow import tensorflow

T = TypeVar("T")

NOTHING, MARKS, OPS = 0, 1, 2
"""Levels of events: none; step marks, calls and callbacks, compiling, what threads of tf.data hand on; also ops."""

_TRACE_LEVEL = "_ZN3tsl8profiler8internal13g_trace_levelE"
_SET_COLLECTOR = "_ZN3tsl7tracing17SetEventCollectorENS0_13EventCategoryEPKNS0_14EventCollectorE"
_SCHEDULE_CLOSURE, _RUN_CLOSURE = 0, 1


def can_change_level() -> bool:
    """Whether this TensorFlow has the number, no GPU, whose events have no level, and runs a call's ops within it."""
    config = tensorflow().config
    waits = config.experimental.get_synchronous_execution()
    return waits and _level() is not None and not config.list_physical_devices("GPU")


def set_level(level: int) -> None:
    """Record events up to a level from now on, if a profiler is recording: without one, none could start."""
    if (number := _level()) is not None and number.value >= NOTHING:
        number.value = level


def leave_out_thread_pool_marks() -> None:
    """Let the profiler that has just started record no marks, where this TensorFlow can be told."""
    if set_collector := _set_collector():
        for category in (_SCHEDULE_CLOSURE, _RUN_CLOSURE):
            set_collector(ctypes.c_uint(category), ctypes.c_void_p(None))


@cache
def _level() -> ctypes.c_int | None:
    return _in_library(lambda library: ctypes.c_int.in_dll(library, _TRACE_LEVEL))


@cache
def _set_collector() -> Callable[[ctypes.c_uint, ctypes.c_void_p], object] | None:
    return _in_library(lambda library: getattr(library, _SET_COLLECTOR))


def _in_library(find: Callable[[ctypes.CDLL], T]) -> T | None:
    """Return what is found in TensorFlow's library; None if this build does not have it."""
    for library in Path(tensorflow().sysconfig.get_lib()).glob("libtensorflow_framework.*"):
        with suppress(OSError, AttributeError, ValueError):
            return find(ctypes.CDLL(str(library)))
    return None
