"""The steps of a program while it runs: how long each takes, and how much of that waits for data."""

import functools
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np

from tfprof_nb.capture.patching import replaced
from tfprof_nb.capture.pipeline_gaps import PipelineGaps, watched_pipelines
from tfprof_nb.capture.tensorflow import iterator_class
from tfprof_nb.capture.watched_steps import watched_steps

MAX_BARS = 60  # as many again, and neighbours become one
Watched = Callable[[Callable[[str], float | None], Callable[[float | None], None]], AbstractContextManager[None]]
_OTHERS = 16  # calls of other iterators in a pass: more, and the one that began passes is used no more
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
        self._pipelines = pipelines
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget the steps up to now."""
        self.count, self.per_bar, self.tells_waits = 0, 1, False
        self.bars: list[Bar] = []
        self._collected: list[Bar] = []
        self._waits_in_python = False
        self._new = _newest()
        self._steps_before = self._bars_before = 0  # the last look
        self._share = 0.0  # of a step that waited, at the last look that could tell

    def add(self, seconds: float, waiting: float) -> None:
        """Add a step that has ended."""
        self.count += 1
        if waiting > 0:
            self.tells_waits = self._waits_in_python = True
        if self.count > 1:  # the first traces
            self._new.append(Bar(seconds, waiting))
        self._collected.append(Bar(seconds, waiting))
        if len(self._collected) < self.per_bar:
            return
        self.bars, self._collected = [*self.bars, _mean(self._collected)], []
        if len(self.bars) == 2 * MAX_BARS:
            self.bars = [_mean(pair) for pair in zip(self.bars[::2], self.bars[1::2], strict=True)]
            self.per_bar *= 2
            self._bars_before //= 2

    def look(self) -> Bar:
        """Return a typical step since the last look; its times are 0 if there is none.

        Where fetching is part of a graph, tf.data tells how long the steps waited.
        """
        new, self._new = self._new, _newest()
        if not new:
            return Bar(0, 0)
        seconds, waiting = np.array(new).T
        median = float(np.median(seconds))
        if self._waits_in_python or self._pipelines is None:
            return Bar(median, median * min(1.0, float(waiting.sum() / max(seconds.sum(), 1e-9))))
        steps, self._steps_before = self.count - self._steps_before, self.count
        if (gaps := self._pipelines.newest()) is not None:
            self._share = max(0.0, 1 - gaps.of_a_step(steps) / max(median, 1e-9))
            self.tells_waits = True
        bars = self.bars  # a pass that has ended took its pipeline along: its last steps are like those before them
        bars[self._bars_before :] = [Bar(bar.step, self._share * bar.step) for bar in bars[self._bars_before :]]
        self._bars_before = len(bars)
        return Bar(median, median * self._share)

    @property
    def typical(self) -> Bar:
        """The median step, and the wait of the average step among those that are not much longer."""
        if not self.bars:
            return Bar(0, 0)
        steps, waits = np.array(self.bars).T
        median = float(np.median(steps))
        usual = steps <= _MUCH_LONGER * median
        return Bar(median, median * float(waits[usual].sum() / max(steps[usual].sum(), 1e-9)))


def _newest() -> deque[Bar]:
    return deque(maxlen=MAX_BARS)


def _mean(bars: list[Bar] | tuple[Bar, ...]) -> Bar:
    return Bar(*(sum(times) / len(bars) for times in zip(*bars, strict=True)))  # a tenth of NumPy's time


class _Waits(threading.local):
    """What one thread's eager calls of tf.data iterators tell: how long it waits, and where its loops begin anew."""

    def __init__(self) -> None:
        self.spans: list[tuple[float, float]] = []  # when a call began, and its seconds
        self.has_step = False  # whether a step began in this pass
        self._leading: weakref.ref[Any] | None = None  # of several iterators that a loop takes from, the first
        self._passed_at, self._others = 0.0, 0  # when it was called last, and how often others were since

    def began(self, iterator: Any, at: float) -> float | None:
        """Take note of a call; return how long the pass took that it ends, or None if it ends none."""
        leading = self._leading and self._leading()
        if leading is iterator:
            seconds, self._passed_at, self._others = at - self._passed_at, at, 0
            return seconds
        self._others += 1
        if leading is None or self._others > _OTHERS:
            self._leading, self._passed_at, self._others = weakref.ref(iterator), at, 0
        return None

    def ended(self, iterator: Any) -> None:
        """Take note that an iterator has ended."""
        if self._leading and self._leading() is iterator:
            self._leading = None

    def taken(self) -> list[tuple[float, float]]:
        """Return the calls since the last step."""
        spans, self.spans = self.spans, []
        return spans


@contextmanager
def step_times(watched: Watched = watched_steps, leave_out: Collection[str] = ()) -> Iterator[StepTimes]:
    """Time the steps that run while the block does, and what they wait for tf.data's iterators.

    Steps are those that ``watched`` tells of, without those of a name in ``leave_out``. In a loop that takes
    data, a pass without such a step is one.
    """
    waits = _Waits()

    def began(name: str) -> float | None:
        waits.has_step = True
        return None if name in leave_out else time.perf_counter()

    def ended(begin: float | None) -> None:
        end, waited = time.perf_counter(), waits.taken()
        if begin is not None:
            outside = sum(seconds for at, seconds in waited if at < begin)
            times.add(end - begin + outside, sum(seconds for _, seconds in waited))

    def passed(seconds: float) -> None:
        has_step, waits.has_step = waits.has_step, False
        if not has_step:
            times.add(seconds, sum(waited for _, waited in waits.taken()))

    with watched_pipelines() as pipelines, _watched_waits(waits, passed):
        times = StepTimes(pipelines)
        with watched(began, ended):
            yield times


@contextmanager
def _watched_waits(waits: _Waits, passed: Callable[[float], None]) -> Iterator[None]:
    """Add each eager call of a tf.data iterator to ``waits``; ``passed`` gets how long a pass of the loop took."""
    from tensorflow.python.eager.context import executing_eagerly

    iterators = iterator_class()
    fetch = iterators._next_internal  # noqa: SLF001  (what `next` and Keras' `get_next` have in common)

    @functools.wraps(fetch)
    def timed(iterator: Any) -> Any:
        __tracebackhide__ = True
        if not executing_eagerly():  # this builds a graph
            return fetch(iterator)
        begin = time.perf_counter()
        if (seconds := waits.began(iterator, begin)) is not None:
            passed(seconds)
        try:
            return fetch(iterator)
        except Exception:  # the end of the data is one
            waits.ended(iterator)
            raise
        finally:
            waits.spans.append((begin, time.perf_counter() - begin))
            del waits.spans[:-MAX_BARS]  # nobody takes them where there are no steps

    with replaced(iterators, "_next_internal", timed):
        yield
