"""Watch the training cells of a notebook: how long steps take, what they wait for, memory and load, over hours.

No profiler runs. Marks of steps tell when they begin and end; a thread looks once a second, and less often the longer a
cell runs, so that a cell of hours takes no more memory than one of minutes.
"""

import functools
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import psutil

from tfprof_nb.capture.graphs.collector import batch_of_pipeline
from tfprof_nb.capture.graphs.keras_layers import batch_of_keras
from tfprof_nb.capture.keras import keras_classes
from tfprof_nb.capture.machine_load import read_load
from tfprof_nb.capture.marks import is_open
from tfprof_nb.capture.patching import hooked
from tfprof_nb.capture.step_times import StepTimes, step_times
from tfprof_nb.capture.tensorflow import iterator_class
from tfprof_nb.capture.ticker import Ticker
from tfprof_nb.capture.watched_steps import T, watched_steps
from tfprof_nb.formats.marks import PHASES
from tfprof_nb.formats.watched_cells import Interval, WatchedCell

_INTERVAL_S, _MAX_INTERVALS = 1.0, 240  # as many intervals, and neighbours become one
_NOT_TRAINING = ("test", "predict")
_OF_TENSORFLOW = re.compile(r"^\s*(?:import|from)\s+(?:tensorflow|keras|tf_keras)\b", re.MULTILINE)
_PACKAGES = {"TensorFlow": "tensorflow", "Keras": "keras"}


class Watcher:
    """Watches cells, one after another.

    Parameters
    ----------
    ended
        Gets each training cell that has ended.
    waits
        Whether the watch must wait for something that changes TensorFlow meanwhile, such as a capture.
    """

    def __init__(self, ended: Callable[[WatchedCell], None], waits: Callable[[], bool]) -> None:
        self._ended, self._waits = ended, waits
        self._changes, self._cell = ExitStack(), Ticker(lambda _: None, _INTERVAL_S, "watch")
        self._times: StepTimes | None = None
        self._batch = 0
        self._intervals = _Intervals()

    def begin_cell(self, text: str) -> None:
        """A cell begins. Keras and TensorFlow are watched once a cell has imported them, or is about to."""
        self._cell.end()
        if self._times is None and not self._waits():
            if "tensorflow" not in sys.modules and "keras" not in sys.modules and not _OF_TENSORFLOW.search(text):
                return
            with suppress(ImportError):
                self._begin()
        if self._times:
            self._text, self._began, self._batch = text, time.time(), 0
            self._times.begin_anew()
            self._intervals = _Intervals()
            self._cell = Ticker(functools.partial(self._look, self._times), _INTERVAL_S, "watch")
            self._cell.start()

    def end_cell(self, label: str) -> None:
        """The cell has ended; if it trained, `ended` gets it."""
        if self._cell.ended or self._times is None:
            return
        self._cell.end()
        self._cell.join()
        self._intervals.add(self._times)
        if self._times.count:
            run = WatchedCell(
                cell=label,
                text=self._text,
                began=self._began,
                seconds=round(time.time() - self._began, 3),
                batch=self._batch,
                tells_waits=self._times.tells_waits,
                versions=_versions(),
                intervals=self._intervals.kept,
            )
            self._ended(run)

    def stop(self) -> None:
        """Leave Keras and TensorFlow as they were."""
        self._cell.end()
        self._changes.close()
        self._times = None

    def _begin(self) -> None:
        with ExitStack() as undo:
            times = undo.enter_context(step_times(_watched, leave_out=_NOT_TRAINING))
            undo.enter_context(_batches(self._took))
            self._changes, self._times = undo.pop_all(), times

    def _took(self, examples: int) -> None:
        self._batch = self._batch or examples

    def _look(self, times: StepTimes, ticker: Ticker) -> None:
        for _ in ticker:
            if times.count:
                self._intervals.add(times)
                ticker.interval_s = self._intervals.length_s


class _Intervals:
    """The intervals of one cell, in a memory of limited size."""

    def __init__(self) -> None:
        self.kept: list[Interval] = []
        self.length_s, self._began, self._count = _INTERVAL_S, time.monotonic(), 0
        self._process, self._load = psutil.Process(), read_load()

    def add(self, times: StepTimes) -> None:
        """Add the time since the last interval."""
        typical, load = times.look(), read_load()
        steps, self._count = times.count - self._count, times.count
        others = None
        if load and self._load:
            seconds, busy, own = (now - before for now, before in zip(load, self._load, strict=True))
            others = round(max(0.0, busy - own) / max(seconds, 1e-3), 2)
        self._load = load
        ended = round(time.monotonic() - self._began, 2)
        step_ms, waiting_ms = (round(1e3 * one, 4) for one in typical)
        held = self._process.memory_info().rss
        self.kept.append(Interval(ended, steps, step_ms, waiting_ms, held, others))
        if len(self.kept) == _MAX_INTERVALS:
            self.kept = [_joined(*pair) for pair in zip(self.kept[::2], self.kept[1::2], strict=True)]
            self.length_s *= 2


def _joined(one: Interval, other: Interval) -> Interval:
    counts = one.steps if one.step_ms else 0, other.steps if other.step_ms else 0
    step_ms, waiting_ms = (
        round(sum(count * ms for count, ms in zip(counts, both, strict=True)) / (sum(counts) or 1), 4)
        for both in ((one.step_ms, other.step_ms), (one.waiting_ms, other.waiting_ms))
    )
    load = [each.other_processors for each in (one, other) if each.other_processors is not None]
    return Interval(
        other.ended_s,
        one.steps + other.steps,
        step_ms,
        waiting_ms,
        max(one.memory_bytes, other.memory_bytes),
        round(sum(load) / len(load), 2) if load else None,
    )


def _versions() -> dict[str, str]:
    versions = {name: getattr(sys.modules.get(package), "__version__", "") for name, package in _PACKAGES.items()}
    return {name: version for name, version in versions.items() if version}


@contextmanager
def _watched(began: Callable[[str], T], ended: Callable[[T], None]) -> Iterator[None]:
    """Watch marked steps, and those of Keras without marks, which would cost several times as much."""
    with watched_steps(began, ended), ExitStack() as undo:
        for callbacks, _, trainer in filter(None, [keras_classes()]):
            for phase in PHASES:
                step = _KerasStep(phase, began, ended)
                begin, end, alone = f"on_{phase}_batch_begin", f"on_{phase}_batch_end", f"{phase}_on_batch"
                undo.enter_context(hooked(callbacks, begin, before=step.begin))
                undo.enter_context(hooked(callbacks, end, after=step.end))
                undo.enter_context(hooked(trainer, alone, step.begin, step.end))
        yield


class _KerasStep:
    """Steps of one phase, as Keras' methods begin and end them."""

    def __init__(self, phase: str, began: Callable[[str], T], ended: Callable[[T], None]) -> None:
        self._phase, self._began, self._ended = phase, began, ended
        self._open = threading.local()

    def begin(self, *_: Any, **__: Any) -> None:
        self._open.token = None if is_open() else (self._began(self._phase),)  # else the mark tells of it

    def end(self, *_: Any, **__: Any) -> None:
        token, self._open.token = getattr(self._open, "token", None), None
        if token:
            self._ended(*token)


@contextmanager
def _batches(took: Callable[[int], None]) -> Iterator[None]:
    """Tell how many examples a step takes, as Keras or the elements of a dataset say."""

    def of_keras(iterator: Any, *_: Any, **__: Any) -> None:
        with suppress(Exception):  # whatever another version of Keras lacks, the program goes on
            took((batch_of_keras(iterator) or 0) * int(iterator.steps_per_execution or 1))

    def of_dataset(_iterator: Any, dataset: Any = None, *_: Any, **__: Any) -> None:
        with suppress(Exception):  # whatever another version of TensorFlow lacks, the program goes on
            took(next(batch_of_pipeline(dataset), 0))

    with ExitStack() as undo:
        with suppress(ImportError):
            from keras.src.trainers.epoch_iterator import EpochIterator

            undo.enter_context(hooked(EpochIterator, "__init__", after=of_keras))
        undo.enter_context(hooked(iterator_class(), "__init__", after=of_dataset))
        yield
