"""Time a call without a profiler: to the end of what it started on the devices, beside the load of other programs."""

import gc
import sys
import time
from collections.abc import Callable

from tfprof_nb.capture.machine_load import machine_load
from tfprof_nb.formats.sidecar import MachineLoadSection


def timed(call: Callable[[], object]) -> tuple[float, MachineLoadSection]:
    """Call a function; return the seconds that it took, and the load of the machine meanwhile."""
    gc.collect()  # what runs before left behind is not this one's work
    wait_for_devices()
    with machine_load() as gather:
        begun = time.perf_counter()
        call()
        wait_for_devices()
        seconds = time.perf_counter() - begun
    return seconds, gather()


def wait_for_devices() -> None:
    """Wait until the devices have done what they were given: a call that a GPU works on returns early."""
    if tensorflow := sys.modules.get("tensorflow"):
        tensorflow.test.experimental.sync_devices()
