"""Leave out the marks of thread pools, which no page shows and XProf's tools do not count.

TensorFlow's profiler marks when a closure is queued and when it runs: half of the events of a usual capture on a CPU,
and a third of the time that saving takes. There is no option for it. Thread pools look for who collects the marks in
places that `SetEventCollector` (`tsl/platform/tracing.h`) fills; when the profiler stops, it empties them itself.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tfprof_nb.capture.tensorflow import tensorflow

_SET_COLLECTOR = "_ZN3tsl7tracing17SetEventCollectorENS0_13EventCategoryEPKNS0_14EventCollectorE"
_SCHEDULE_CLOSURE, _RUN_CLOSURE = 0, 1


def leave_out_thread_pool_marks() -> None:
    """Let the profiler that has just started record no marks, where this TensorFlow can be told."""
    if set_collector := _set_collector():
        for category in (_SCHEDULE_CLOSURE, _RUN_CLOSURE):
            set_collector(category, None)


@cache
def _set_collector() -> Callable[[int, None], object] | None:
    """Return TensorFlow's function, which takes a category and a collector; None if this build does not have it."""
    for library in Path(tensorflow().sysconfig.get_lib()).glob("libtensorflow_framework.*"):
        try:
            function = getattr(ctypes.CDLL(str(library)), _SET_COLLECTOR)
        except (OSError, AttributeError):
            continue
        function.argtypes, function.restype = [ctypes.c_uint, ctypes.c_void_p], None
        found: Callable[[int, None], object] = function
        return found
    return None
