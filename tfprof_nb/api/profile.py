"""``profile``, ``start`` and ``stop``: capture a block, a function's calls, or what runs between two calls."""

import copy
import functools
import inspect
import os
import warnings
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import ParamSpec, TypeVar

from tfprof_nb._errors import CaptureError, TfprofError
from tfprof_nb.analysis.advice.catalogue import known
from tfprof_nb.api.session import Capture, hides, running
from tfprof_nb.capture.lines import CellLines
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.window import Window
from tfprof_nb.profiles import Profile

P = ParamSpec("P")
R = TypeVar("R")

_RETURNS_EARLY = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)


class profile:  # noqa: N801  (used as a function: a context manager and a decorator)
    """Capture a profile of a block or of a function's calls.

    Parameters
    ----------
    name
        What the profile is called in titles and comparisons; None takes the run's own name.
    logdir
        Folder for the profile's files, an ordinary TensorBoard logdir. None is ``tfprof_logs`` in the working folder.
        To a URL (``gs://``, ``s3://``) the files are sent when the capture ends.
    warmup
        Steps to skip before recording starts: the first steps trace and compile.
    steps
        Steps to record; then the profiler stops and the block goes on. None records steps, calls and callbacks to the
        end of the block, and ops as ``record_all`` says. Any recording ends before memory runs short, with a note in
        the overview.
    max_seconds
        Seconds to record; then the profiler stops and the block goes on. None records as ``steps`` says.
    host_level
        0 records nothing of the host, 1 the most important events, 2 also ops, 3 everything, also marks of
        thread pools, which no page shows.
    device_level
        1 records GPUs and TPUs, 0 does not.
    python_level
        1 records every Python call (large and slow), 0 does not.
    delay_ms
        Milliseconds to wait before recording starts.
    lines
        Whether to record which lines of code the ops come from, and how long the lines of a cell take.
    metrics
        Whether to sample the machine during the capture: processor, memory, disk, GPU.
    python
        Whether to sample which lines of Python run.
    ignore
        Rules of advice to leave out, by their ids (`rules`), beside those that the project ignores.
    record_all
        Whether to record ops all the time, which slows programs of many short ops several times. False records ops
        until enough steady steps have passed, and again where something new begins; on GPUs, always.

    Returns
    -------
    Profile
        What ``as`` gives. It can be used once the block has ended; before that it raises `CaptureError`.
        As a decorator, each call makes a profile, and ``tfprof_nb.last()`` has the newest.

    Raises
    ------
    CaptureActiveError
        If a profiler is running in this process already.
    CaptureError
        If the profile cannot be written, or could not be saved.
    MissingDependencyError
        If TensorFlow is not installed.

    Notes
    -----
    If the block raises, the profile up to the error is kept and the exception propagates. Steps of Keras models are
    marked; mark those of your own loop with ``tfprof_nb.step``.

    Examples
    --------
    >>> import tensorflow as tf, tfprof_nb as tp
    >>> with tp.profile("product") as p:
    ...     for i in range(3):
    ...         with tp.step(i):
    ...             _ = tf.linalg.matmul(tf.ones((8, 8)), tf.ones((8, 8)))
    >>> len(p.steps.table)
    3
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        logdir: str | os.PathLike[str] | None = None,
        warmup: int = 0,
        steps: int | None = None,
        max_seconds: float | None = None,
        host_level: int = 2,
        device_level: int = 1,
        python_level: int = 0,
        delay_ms: float = 0,
        lines: bool = True,
        metrics: bool = False,
        python: bool = True,
        ignore: Sequence[str] = (),
        record_all: bool = False,
    ) -> None:
        if callable(name):
            raise TypeError("Write the decorator with brackets: @tfprof_nb.profile()")
        if not isinstance(name, str | None):
            raise TypeError(f"name must be text, not {name!r}.")
        self._options = Options(host_level, device_level, python_level)
        self._window = Window(warmup, steps, max_seconds, delay_ms, record_all)
        self._name, self._logdir = name, logdir
        self._lines, self._metrics, self._python = lines, metrics, python
        self._ignore = known([ignore] if isinstance(ignore, str) else ignore)

    def new_capture(self, cell: CellLines | None = None) -> Capture:
        """Return a capture with these settings that has not started; ``cell`` is the notebook cell to time by line."""
        return Capture(
            self._name,
            logdir=self._logdir,
            options=self._options,
            window=self._window,
            lines=self._lines,
            metrics=self._metrics,
            python=self._python,
            ignore=tuple(self._ignore),
            cell=cell,
        )

    def __enter__(self) -> Profile:
        __tracebackhide__ = True
        capture = self.new_capture()
        capture.start()
        self._capture = capture
        return capture.profile

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        __tracebackhide__ = True
        try:
            self._capture.finish(error)
        except TfprofError as failure:
            if not hides(error, failure):
                raise
            warnings.warn(f"No profile: {failure}", stacklevel=2)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a function that captures each of its calls."""
        if not callable(function):
            raise TypeError(f"This decorates functions, not {function!r}.")
        if any(check(function) for check in _RETURNS_EARLY):
            raise TypeError(
                f"{getattr(function, '__name__', function)} is a coroutine or generator function: its calls return "
                "before their work is done and cannot be profiled. Use `with tfprof_nb.profile():` inside it."
            )

        @functools.wraps(function)
        def profiled(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True
            with copy.copy(self):
                return function(*args, **kwargs)

        return profiled


class _Started:
    """The capture that `start` began and `stop` has not ended."""

    capture: Capture | None = None


def _with_arguments_of(capture: Callable[P, profile]) -> Callable[[Callable[[profile], R]], Callable[P, R]]:
    """Turn a function of a capture into a function of the capture's arguments, with the signature that shows them."""

    def changed(function: Callable[[profile], R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True
            return function(capture(*args, **kwargs))

        called.__signature__ = inspect.signature(capture)  # type: ignore[attr-defined]
        return called

    return changed


@_with_arguments_of(profile)
def start(settings: profile) -> None:
    """Start a capture that goes on until `stop`. Parameters and errors are those of `profile`.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> tp.start("warm")
    >>> p = tp.stop()
    >>> p.name
    'warm'
    """
    __tracebackhide__ = True
    started = settings.new_capture()
    started.start()
    _Started.capture = started


def stop() -> Profile:
    """End the capture that `start` began, and return its profile.

    Raises
    ------
    CaptureError
        If `start` was not called, nothing was recorded, or the profile could not be saved.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> tp.start()
    >>> tp.stop() is tp.last()
    True
    """
    started, _Started.capture = _Started.capture, None
    if started is None or running() is not started:
        raise CaptureError("There is no capture to stop: begin one with tfprof_nb.start().")
    return started.finish()
