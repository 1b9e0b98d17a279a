"""Mark the steps of Keras 3 models, which Keras does not: ``fit``, ``evaluate``, ``predict`` and ``*_on_batch``.

Keras on JAX and PyTorch has the same methods, and so the same marks; TensorFlow's profiler records nothing else of it.
A step is what Keras 2 marked: the batch's begin callbacks, the function that trains (tests, predicts), the end
callbacks. ``tf_keras``, which is Keras 2, marks its own steps and is left as it is.
"""

import functools
import itertools
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from tfprof_nb.capture.marks import close_mark, is_open, no_mark_survives, open_mark
from tfprof_nb.capture.patching import hooked, leaving_event, replaced
from tfprof_nb.capture.tensorflow import trace_class
from tfprof_nb.formats.marks import (
    BACKEND,
    CALLBACK,
    EPOCH,
    JIT_COMPILE,
    KERAS_CALL,
    KERAS_LOOP_END,
    PHASES,
    STEPS_PER_EXECUTION,
)

_CALLS = ("fit", "evaluate", "predict")
_TRAINERS = {"tensorflow": "TensorFlowTrainer", "jax": "JAXTrainer", "torch": "TorchTrainer"}
_METHODS = (
    "on_epoch_begin",
    "on_epoch_end",
    "on_batch_begin",
    "on_batch_end",
    *(f"on_{phase}_{moment}" for phase in PHASES for moment in ("end", "batch_begin", "batch_end")),
)


class TimedCallbacks:
    """Lets calls of callbacks leave events, such as ``callback History.on_epoch_end``.

    Methods are wrapped on the callback objects themselves, and restored afterwards; callbacks of this package, and
    methods that a class does not define, are left out.
    """

    def __init__(self) -> None:
        self._lists, self._undo = WeakSet[Any](), ExitStack()

    def watch(self, callback_list: Any) -> None:
        """Wrap the methods of the callbacks in a Keras ``CallbackList``, once."""
        if callback_list in self._lists:
            return
        self._lists.add(callback_list)
        for callback in callback_list.callbacks:
            if not type(callback).__module__.startswith("tfprof_nb."):
                for method in _METHODS:
                    self._wrap(callback, method)

    def _wrap(self, callback: Any, method: str) -> None:
        own = vars(callback).get(method)
        if own is None and not _is_defined(type(callback), method):
            return
        name = f"{CALLBACK}{type(callback).__name__}.{method}"
        try:
            setattr(callback, method, leaving_event(getattr(callback, method), name))
        except (AttributeError, TypeError):  # the class allows no attributes of instances
            return
        if own is None:
            self._undo.callback(delattr, callback, method)
        else:
            self._undo.callback(setattr, callback, method, own)

    def stop(self) -> None:
        """Restore the callbacks."""
        self._undo.close()
        self._lists.clear()


def _is_defined(kind: type, method: str) -> bool:
    """Whether a class has a method of its own, and not that of Keras' ``Callback``, which does nothing."""
    owner = next((base for base in kind.__mro__ if method in vars(base)), None)
    return owner is not None and not (owner.__name__ == "Callback" and owner.__module__.startswith("keras."))


class _Patches:
    """Keeps Keras patched while anyone needs it: a profiler server and captures of cells can overlap."""

    def __init__(self) -> None:
        self._lock, self._undo = threading.Lock(), ExitStack()
        self.users = 0

    @contextmanager
    def applied(self, classes: tuple[type, type, type]) -> Iterator[None]:
        with self._lock:
            if not self.users:
                timed = TimedCallbacks()
                self._undo.callback(timed.stop)
                for change in _changes(*classes, timed):
                    self._undo.enter_context(change)
            self.users += 1
        try:
            yield
        finally:
            with self._lock:
                self.users -= 1
                if not self.users:
                    self._undo.close()


_patches = _Patches()
_announced = WeakKeyDictionary[Any, tuple[int, int]]()


def announce_batch(model: Any, number: int, epoch: int) -> None:
    """Give the next batch that a model trains on a number of the caller's own, and its epoch.

    A capture that begins in the middle of a fit knows neither.
    """
    _announced[model] = number, epoch


def end_announcements(model: Any) -> None:
    """Let a model's steps be counted again."""
    _announced.pop(model, None)


def marks_steps() -> bool:
    """Whether a running capture or a profiler server already marks the steps of Keras models."""
    return _patches.users > 0


@contextmanager
def keras_steps() -> Iterator[None]:
    """Mark the steps of Keras 3 models while the block runs; afterwards Keras is as it was."""
    classes = keras_classes()
    if classes is None:
        yield
        return
    with _patches.applied(classes), no_mark_survives():  # a capture can begin and end in the middle of a step
        yield


def keras_classes() -> tuple[type, type, type] | None:
    """Return Keras' classes of lists of callbacks, passes and models; None without Keras 3, or on another backend."""
    try:
        import keras
        from keras.src.callbacks.callback_list import CallbackList
        from keras.src.trainers.epoch_iterator import EpochIterator
    except ImportError:
        return None
    backend = keras.backend.backend()
    if backend not in _TRAINERS:
        return None
    trainer = import_module(f"keras.src.backend.{backend}.trainer")
    return CallbackList, EpochIterator, getattr(trainer, _TRAINERS[backend])


def _changes(
    callbacks: type, passes: type, model: type, timed: TimedCallbacks
) -> Iterator[AbstractContextManager[None]]:
    """Yield a context manager for every method to change."""
    counts = defaultdict[str, Iterator[int]](itertools.count)
    epochs = WeakKeyDictionary[Any, int]()

    def remember_epoch(its: Any, epoch: int, *_: Any, **__: Any) -> None:
        epochs[its] = epoch
        timed.watch(its)

    def open_step(phase: str, its: Any, *_: Any, **__: Any) -> None:
        timed.watch(its)
        announced = _announced.get(its.model) if phase == "train" else None
        number, of_epoch = announced or (next(counts[phase]), epochs.get(its))
        epoch = {} if of_epoch is None else {EPOCH: of_epoch}
        open_mark(its, phase, number, **epoch, **_execution(its.model))

    yield hooked(callbacks, "on_epoch_begin", before=remember_epoch)
    for phase in PHASES:
        yield hooked(callbacks, f"on_{phase}_batch_begin", before=functools.partial(open_step, phase))
        yield _wrapped(callbacks, f"on_{phase}_batch_end", _close_step)
        yield _wrapped(model, f"{phase}_on_batch", _enclose_step(phase, counts[phase]))
    for call in _CALLS:
        yield replaced(model, call, leaving_event(vars(model)[call], f"{KERAS_CALL}{call}"))
    if model.__name__ != _TRAINERS["torch"]:  # it enters this for each batch, which it takes before the step
        yield _wrapped(passes, "catch_stop_iteration", _close_open_marks)


def _wrapped(owner: type, name: str, wrapper: Callable[[Any], Any]) -> AbstractContextManager[None]:
    method = vars(owner)[name]
    return replaced(owner, name, functools.wraps(method)(wrapper(method)))


def _execution(model: Any) -> dict[str, int | str]:
    """Return how a model runs its batches, unless TensorFlow runs them one by one and op by op."""
    import keras

    batches = getattr(model, "steps_per_execution", 1)
    together = {STEPS_PER_EXECUTION: batches} if batches > 1 else {}
    if (backend := keras.backend.backend()) != "tensorflow":
        return {**together, BACKEND: backend}
    compiled = getattr(model, "_jit_compile", False)  # reading the property without the underscore may change it
    return {**together, JIT_COMPILE: 1} if compiled else together


def _close_step(original: Callable[..., None]) -> Callable[..., None]:
    def on_batch_end(callbacks: Any, *args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        try:
            original(callbacks, *args, **kwargs)
        finally:
            close_mark(callbacks)

    return on_batch_end


def _enclose_step(phase: str, count: Iterator[int]) -> Callable[[Any], Any]:
    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        def on_batch(model: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if is_open():
                return original(model, *args, **kwargs)
            with no_mark_survives():
                open_mark(model, phase, next(count), **_execution(model))
                outputs = original(model, *args, **kwargs)
                close_mark(model)
            return outputs

        return on_batch

    return wrapper


def _close_open_marks(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Close the open batch at the end of ``catch_stop_iteration``, in which Keras runs each pass, and mark that end."""
    trace = trace_class()

    @contextmanager
    def catch_stop_iteration(epoch_iterator: Any) -> Iterator[None]:
        with original(epoch_iterator), no_mark_survives():
            yield
        with trace(KERAS_LOOP_END):
            pass

    return catch_stop_iteration
