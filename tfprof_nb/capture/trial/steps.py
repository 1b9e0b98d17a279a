"""The steps of a run: when each ended, what Keras told of it, and how a run is ended after so many, or so long.

Steps are Keras' batches, marks (`tfprof_nb.step`), updates of an eager optimizer, calls of a ``tf.function``, and the
passes of the cell's loops. A run is ended by an error that no ``except Exception`` catches, at the end of a step; where
no step ends for long, between two lines of Python.
"""

import ctypes
import functools
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

from tfprof_nb.capture.patching import hooked
from tfprof_nb.capture.tensorflow import tensorflow
from tfprof_nb.capture.watched_steps import watched_steps
from tfprof_nb.formats.marks import PHASES

MARK, UPDATE, CALL, PASS = "mark", "update", "call", "pass"
COUNT_PASS = "__tfprof_nb_pass__"  # noqa: S105 - the name of what counts passes of loops
REACHED = -1  # instead of a pass: the run is where the cells differ
MIN_STEPS = 5  # that tell a pace
_GRACE_S = 2.0
_MAX_LOGS = 2_000


class Ended(BaseException):
    """The run did as much as it should."""


class Limit(NamedTuple):
    """When to end a run: after so many steps of a kind, or after so many seconds, for few steps a longer time."""

    seconds: float
    kind: str = ""
    steps: int = 0
    longest_s: float = 0.0


class Steps:
    """What a run told of its steps.

    Attributes
    ----------
    ends
        For each kind of step, the times at which steps ended, and how many had ended then.
    logs
        What Keras told after training steps, by number, and after epochs: tensors or numbers by name.
    has_reached
        Whether the run came to where the cells differ, if it tells that.
    per_epoch, planned_epochs
        How many training steps an epoch has, if Keras knew it, and how many epochs ``fit`` was asked for.
    """

    def __init__(self, limit: Limit) -> None:
        self.ends = defaultdict[str, list[tuple[float, int]]](list)
        self.logs, self.epochs = dict[int, Any](), list[Any]()
        self.per_epoch: int | None = None
        self.planned_epochs = 1
        self.is_ended = self.has_reached = False
        self._limit, self._in_batch, self._batch = limit, False, dict[str, int]()
        self._thread, self._begun = threading.get_ident(), time.perf_counter()

    def add(self, kind: str, count: int = 1) -> None:
        """Add steps that ended now, and end the run if it did enough."""
        if threading.get_ident() != self._thread:
            return
        now, ends = time.perf_counter(), self.ends[kind]
        done = (ends[-1][1] if ends else 0) + count
        ends.append((now, done))
        limit, spent = self._limit, now - self._begun
        over = spent > limit.seconds and (done >= MIN_STEPS or spent > limit.longest_s)
        if (over and not self._in_batch) or (kind == limit.kind and done >= limit.steps):
            self.end()

    def begin_pass(self, number: int, passes: Sequence[str]) -> None:
        """Note that a pass of a loop begins, or that the run is where the cells differ."""
        if number == REACHED:
            self.has_reached = True
        else:
            self.add(f"{PASS} {passes[number]}")

    def end(self) -> None:
        """End the run."""
        self.is_ended = True
        raise Ended

    def begin_batch(self, *_: Any, **__: Any) -> None:
        """Note that Keras runs a batch: a step in it is no place to end the run."""
        self._in_batch = True

    def end_batch(self, phase: str, callbacks: Any, batch: int, logs: Any = None) -> None:
        """Add the batches that Keras has ended since it told of the last one, and note what it told of them."""
        count = self._count_of(phase, batch)
        if phase == PHASES[0]:
            plan = getattr(callbacks, "params", None) or {}
            self.per_epoch = plan.get("steps") or self.per_epoch
            self.planned_epochs = max(self.planned_epochs, plan.get("epochs") or 1)
            done = self.ends[phase][-1][1] if self.ends[phase] else 0
            if logs and len(self.logs) < _MAX_LOGS:
                self.logs[done + count] = logs
        self.add(phase, count)

    def add_single(self, phase: str, *_: Any, **__: Any) -> None:
        """Add a batch that the program gave to Keras by itself."""
        self.add(phase, self._count_of(phase, 0))

    def _count_of(self, phase: str, batch: int) -> int:
        """Return how many batches have ended since the last, given the number in the epoch of one that ended now."""
        last = self._batch.get(phase, -1)
        self._in_batch, self._batch[phase] = False, batch
        return batch - last if batch > last else batch + 1

    def end_epoch(self, _callbacks: Any, epoch: int, logs: Any = None) -> None:  # noqa: ARG002 - as Keras calls it
        """Note what Keras told of an epoch, in which the data may have ended when a batch had begun."""
        self._in_batch = False
        self._batch.clear()
        self.epochs.append(dict(logs or {}))


@contextmanager
def watched(limit: Limit) -> Iterator[Steps]:
    """Follow the steps of the block, and end it by `Ended` when it did enough."""
    steps, over = Steps(limit), threading.Event()
    thread = threading.get_ident()

    def end_anyway() -> None:
        if not over.is_set():
            steps.is_ended = True
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Ended))

    longest_s = max(limit.seconds, limit.longest_s)
    timer = threading.Timer(longest_s + max(_GRACE_S, longest_s / 2), end_anyway)
    timer.daemon = True
    with ExitStack() as undo:
        for hook in _hooks(steps):
            undo.enter_context(hook)
        undo.enter_context(watched_steps(lambda _: None, lambda _: steps.add(MARK)))
        timer.start()
        try:
            yield steps
        finally:
            over.set()
            timer.cancel()
            with suppress(Ended):
                timer.join()
                for _ in range(100):  # an error that was raised from afar arrives between two lines
                    pass


def _hooks(steps: Steps) -> Iterator[AbstractContextManager[None]]:
    from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function

    eagerly = tensorflow().executing_eagerly

    def called(function: Any, *_: Any, **__: Any) -> None:
        if eagerly():
            steps.add(f"{CALL} {getattr(function, '__name__', '')}")

    def updated(*_: Any, **__: Any) -> None:
        if eagerly():
            steps.add(UPDATE)

    yield hooked(Function, "__call__", after=called)
    if "keras" not in sys.modules:
        return
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer
    from keras.src.callbacks.callback_list import CallbackList
    from keras.src.optimizers.base_optimizer import BaseOptimizer

    yield hooked(BaseOptimizer, "apply", after=updated)
    yield hooked(CallbackList, "on_epoch_end", before=steps.end_epoch)
    for phase in PHASES:
        yield hooked(CallbackList, f"on_{phase}_batch_begin", before=steps.begin_batch)
        yield hooked(CallbackList, f"on_{phase}_batch_end", after=functools.partial(steps.end_batch, phase))
        yield hooked(
            TensorFlowTrainer, f"{phase}_on_batch", steps.begin_batch, functools.partial(steps.add_single, phase)
        )
