"""The steps of a program while it runs: how long each takes, and how much of that waits for data."""

import functools
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.pipeline_gaps import PipelineGaps, watched_pipelines
from tfprof_nb.capture.tensorflow import iterator_class
from tfprof_nb.capture.watched_steps import watched_steps

MAX_BARS = 60  # as many again, and neighbours become one
_MUCH_LONGER = 3.0  # than the median: a step that traces, compiles or fills a buffer


class Bar(NamedTuple):
    """The mean of some steps after one another, in seconds."""

    step: float
    waiting: float


class StepTimes:
    """The times of steps up to now, in a memory of limited size. Times include the wait for data before a step.

    Attributes
    ----------
    count
        How many steps have ended.
    bars
        One for each ``per_bar`` steps, in order.
    tells_waits
        Whether it is known how long steps wait.
    """

    def __init__(self, pipelines: PipelineGaps | None = None) -> None:
        self.count, self.per_bar, self.tells_waits = 0, 1, False
        self.bars: list[Bar] = []
        self._collected: list[Bar] = []
        self._pipelines, self._waits_in_python = pipelines, False
        self._new = _newest()
        self._steps_before = self._bars_before = 0  # the last look
        self._share = 0.0  # of a step that waited, at the last look that could tell

    def add(self, seconds: float, waiting: float) -> None:
        """Add a step that has ended."""
        self.count += 1
        if waiting > 0:
            self.tells_waits = self._waits_in_python = True
        if self.count > 1:  # the first traces
            self._new.append(seconds)
        self._collected.append(Bar(seconds, waiting))
        if len(self._collected) < self.per_bar:
            return
        self.bars, self._collected = [*self.bars, _mean(self._collected)], []
        if len(self.bars) == 2 * MAX_BARS:
            self.bars = [_mean(pair) for pair in zip(self.bars[::2], self.bars[1::2], strict=True)]
            self.per_bar *= 2
            self._bars_before //= 2

    def look(self) -> None:
        """Ask tf.data how long the steps since the last look waited, if their fetching is part of a graph."""
        new, self._new = self._new, _newest()
        if self._waits_in_python or not new or self._pipelines is None:
            return
        steps, self._steps_before = self.count - self._steps_before, self.count
        if (gaps := self._pipelines.newest()) is not None:
            self._share = max(0.0, 1 - gaps.of_a_step(steps) / max(float(np.median(new)), 1e-9))
            self.tells_waits = True
        bars = self.bars  # a pass that has ended took its pipeline along: its last steps are like those before them
        bars[self._bars_before :] = [Bar(bar.step, self._share * bar.step) for bar in bars[self._bars_before :]]
        self._bars_before = len(bars)

    @property
    def typical(self) -> Bar:
        """The median step, and the wait of the average step among those that are not much longer."""
        if not self.bars:
            return Bar(0, 0)
        steps, waits = np.array(self.bars).T
        median = float(np.median(steps))
        usual = steps <= _MUCH_LONGER * median
        return Bar(median, median * float(waits[usual].sum() / max(steps[usual].sum(), 1e-9)))


def _newest() -> deque[float]:
    return deque(maxlen=MAX_BARS)


def _mean(bars: list[Bar] | tuple[Bar, ...]) -> Bar:
    return Bar(*(sum(times) / len(bars) for times in zip(*bars, strict=True)))  # a tenth of NumPy's time


@contextmanager
def step_times() -> Iterator[StepTimes]:
    """Time the marked steps that run while the block does, and what they wait for tf.data's iterators."""
    waiting = threading.local()

    def began(_name: str) -> float:
        return time.perf_counter()

    def ended(begin: float) -> None:
        end, waited = time.perf_counter(), getattr(waiting, "spans", [])
        outside = sum(seconds for at, seconds in waited if at < begin)
        times.add(end - begin + outside, sum(seconds for _, seconds in waited))
        waiting.spans = []

    with watched_pipelines() as pipelines, _watched_waits(waiting):
        times = StepTimes(pipelines)
        with watched_steps(began, ended):
            yield times


@contextmanager
def _watched_waits(waiting: Any) -> Iterator[None]:
    """Add each eager call of a tf.data iterator to ``waiting.spans``: when it began, and its seconds."""
    from tensorflow.python.eager.context import executing_eagerly

    iterators = iterator_class()
    fetch = iterators._next_internal  # noqa: SLF001  (what `next` and Keras' `get_next` have in common)

    @functools.wraps(fetch)
    def timed(iterator: Any) -> Any:
        __tracebackhide__ = True
        if not executing_eagerly():  # this builds a graph
            return fetch(iterator)
        begin = time.perf_counter()
        try:
            return fetch(iterator)
        finally:
            spans = waiting.__dict__.setdefault("spans", [])
            spans.append((begin, time.perf_counter() - begin))
            del spans[:-MAX_BARS]  # nobody takes them where no steps are marked

    with replaced(iterators, "_next_internal", timed):
        yield
