"""Sample the machine during a capture: this process's memory, and on request processor, disk and GPUs.

A thread reads them on the clock of the profile, nanoseconds since 1970.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import psutil

from tfprof_nb.capture.sidecar import Gather
from tfprof_nb.capture.ticker import Ticker
from tfprof_nb.formats.sidecar import PEAK_MEMORY, RESIDENT_MEMORY, SamplesSection, Series

MEMORY_INTERVAL_S = 0.05
METRICS_INTERVAL_S = 0.1  # Linux counts processor time in units of 10 ms


class Quantity(NamedTuple):
    """A quantity to sample: its name and unit, how to read it, and whether a reading covers the time since the last."""

    metric: str
    unit: str
    read: Callable[[], float]
    since_last: bool = False


@contextmanager
def process_memory() -> Iterator[Gather]:
    """Sample the memory of this process, and its peak since the process began."""
    process = psutil.Process()
    held = Quantity(RESIDENT_MEMORY, "bytes", lambda: process.memory_info().rss)
    with _sampled([held, Quantity(PEAK_MEMORY, "bytes", _peak_memory)], MEMORY_INTERVAL_S) as gather:
        yield gather


@contextmanager
def system_metrics() -> Iterator[Gather]:
    """Sample processor, memory and disk, and the GPUs that ``pynvml`` (of the package nvidia-ml-py) finds."""
    with _gpus() as gpus, _sampled([*_machine(), *gpus], METRICS_INTERVAL_S) as gather:
        yield gather


def _peak_memory() -> float:
    import resource  # not on Windows
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _machine() -> list[Quantity]:
    process = psutil.Process()
    return [
        Quantity("CPU", "%", psutil.cpu_percent, since_last=True),
        Quantity("process CPU", "% of a core", process.cpu_percent, since_last=True),
        Quantity(RESIDENT_MEMORY, "bytes", lambda: process.memory_info().rss),
        Quantity("process disk read", "bytes/s", _rate(lambda: process.io_counters().read_bytes), since_last=True),
        Quantity("process disk write", "bytes/s", _rate(lambda: process.io_counters().write_bytes), since_last=True),
    ]


def _rate(read: Callable[[], float]) -> Callable[[], float]:
    """Return a function that returns how fast a count has grown per second since the last call."""
    last = (time.monotonic(), 0.0)

    def per_second() -> float:
        nonlocal last
        before, last = last, (time.monotonic(), read())
        return round((last[1] - before[1]) / max(last[0] - before[0], 1e-6))

    return per_second


@contextmanager
def _gpus() -> Iterator[list[Quantity]]:
    """Yield the quantities of each GPU; none if there is no GPU, or no library of NVIDIA's to read them."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:  # noqa: BLE001  (its own errors, or those of a broken driver: there is no GPU to sample)
        yield []
        return
    try:
        yield [quantity for i in range(pynvml.nvmlDeviceGetCount()) for quantity in _gpu(pynvml, i)]
    finally:
        pynvml.nvmlShutdown()


def _gpu(pynvml: Any, index: int) -> list[Quantity]:
    device = pynvml.nvmlDeviceGetHandleByIndex(index)
    return [
        Quantity(f"GPU {index}", "%", lambda: pynvml.nvmlDeviceGetUtilizationRates(device).gpu),
        Quantity(f"GPU {index} memory", "bytes", lambda: pynvml.nvmlDeviceGetMemoryInfo(device).used),
    ]


@contextmanager
def _sampled(quantities: Sequence[Quantity], interval_s: float) -> Iterator[Gather]:
    """Sample while the block runs."""
    sampler = _Sampler(quantities, interval_s)
    sampler.start()
    try:
        yield sampler.gather
    finally:
        sampler.end()


class _Sampler:
    """Reads quantities again and again, without those that cannot be read the first time."""

    def __init__(self, quantities: Sequence[Quantity], interval_s: float) -> None:
        first = [(quantity, _value(quantity)) for quantity in quantities]
        self._quantities = [quantity for quantity, value in first if value is not None]
        values = [None if quantity.since_last else value for quantity, value in first if value is not None]
        self._samples: list[tuple[int, list[float | None]]] = [(time.time_ns(), values)]
        self._ticker = Ticker(self._watch, interval_s, "sampler")

    def start(self) -> None:
        self._ticker.start()

    def _watch(self, ticker: Ticker) -> None:
        for _ in ticker:
            self._samples.append((time.time_ns(), [_value(quantity) for quantity in self._quantities]))

    def end(self) -> None:
        self._ticker.end()
        self._ticker.join()

    def gather(self) -> SamplesSection:
        """End sampling, and return the section."""
        self.end()
        times, rows = [time_ns for time_ns, _ in self._samples], [values for _, values in self._samples]
        series = [
            Series(metric=quantity.metric, unit=quantity.unit, values=list(values))
            for quantity, values in zip(self._quantities, zip(*rows, strict=True), strict=True)
        ]
        return SamplesSection(times_ns=times, series=series) if series else {}


def _value(quantity: Quantity) -> float | None:
    with suppress(Exception):  # a sample that cannot be read is missing
        return quantity.read()
    return None
