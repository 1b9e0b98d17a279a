"""Measure how busy other programs keep the processors meanwhile: a profile made beside them shows longer times.

A call can be timed so without a profiler: to the end of what it started on the devices.
"""

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psutil

from tfprof_nb.capture.sidecar import Gather
from tfprof_nb.formats.sidecar import MachineLoadSection

_IDLE = ("idle", "iowait", "steal")
_COUNTED_TWICE = ("guest", "guest_nice")  # Linux counts them as user time, too


@contextmanager
def machine_load() -> Iterator[Gather]:
    """Measure the processor time of all programs and that of this process, from here to the end of the block."""
    measured: MachineLoadSection = {}
    before = read_load()
    try:
        yield lambda: measured
    finally:
        after = read_load()
        if before and after:
            seconds, busy, own = (new - old for old, new in zip(before, after, strict=True))
            processors = len(_numbers(psutil.cpu_count() or 1))
            measured |= MachineLoadSection(seconds=seconds, processors=processors, busy_s=busy, own_s=own)


def read_load() -> tuple[float, float, float] | None:
    """Return the time now and the processor time of all programs and of this process; None where it is unknown."""
    with suppress(Exception):  # whatever a system does not tell, the capture goes on
        own = psutil.Process().cpu_times()
        per_processor = psutil.cpu_times(percpu=True)
        busy = sum(_busy(per_processor[number]) for number in _numbers(len(per_processor)))
        return time.monotonic(), busy, own.user + own.system + own.children_user + own.children_system
    return None


def _busy(times: object) -> float:
    fields = dict(times._asdict())  # type: ignore[attr-defined]
    return float(sum(value for name, value in fields.items() if name not in (*_IDLE, *_COUNTED_TWICE)))


def _numbers(count: int) -> list[int]:
    """Return the processors that this process may use."""
    with suppress(AttributeError):  # macOS knows none
        return [number for number in psutil.Process().cpu_affinity() if number < count]
    return list(range(count))


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
