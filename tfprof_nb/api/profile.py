"""Capturing from Python: ``with profile()``, ``start`` and ``stop``, and the newest profile of the session."""

from __future__ import annotations

import copy
import functools
import inspect
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from tfprof_nb import runs
from tfprof_nb._errors import CaptureError, ProfileNotFoundError, TfprofError
from tfprof_nb.capture.graphs import graphs
from tfprof_nb.capture.lines import CellLines
from tfprof_nb.capture.metrics import process_memory, system_metrics
from tfprof_nb.capture.notebook import notebook_cells
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.recording import NothingRecordedError, Recording
from tfprof_nb.capture.sessions import Choice, SessionRecording
from tfprof_nb.capture.sidecar import Collector
from tfprof_nb.capture.versions import versions
from tfprof_nb.capture.window import Window
from tfprof_nb.formats.sidecar import Section
from tfprof_nb.profiles import Profile

P = ParamSpec("P")
R = TypeVar("R")

LOGDIR = Path("tfprof_logs")  # in the working directory: beside the notebook

_LATER = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)


@dataclass
class _Session:
    """What a session remembers: the capture that runs, the one that `start` began, and the newest profile."""

    running: profile | None = None
    started: profile | None = None
    last: Profile | None = None


_session = _Session()


class profile:  # noqa: N801  (used as a function: a context manager and a decorator)
    """Capture a profile of a block or of a function's calls.

    Parameters
    ----------
    name
        What the profile is called in titles and comparisons; None takes the run's own name.
    logdir
        Folder for the profile's files, an ordinary TensorBoard logdir. None is ``tfprof_logs`` in the working folder.
    warmup
        Steps to let pass before recording starts: the first ones trace and compile.
    steps
        Steps to record; then the profiler stops while the block goes on. None records to the block's end.
    max_seconds
        Seconds to record for; then the profiler stops while the block goes on. None records to the block's end.
    host_level
        0 nothing of the host, 1 the most important events, 2 also ops, 3 everything.
    device_level
        1 records GPUs and TPUs, 0 does not.
    python_level
        1 records every Python call (large and slow), 0 does not.
    delay_ms
        Milliseconds to let pass before recording starts.
    lines
        Whether to record which lines of the program its ops come from, and how long a cell's lines take.
    metrics
        Whether to sample the machine meanwhile: processor, memory, disk, GPU.

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
    If the block raises, the profile up to there is kept and the exception goes on. Steps of Keras models are marked;
    mark those of your own loop with ``tfprof_nb.step``.

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
    ) -> None:
        if callable(name):
            raise TypeError("Write the decorator with brackets: @tfprof_nb.profile()")
        if not isinstance(name, str | None):
            raise TypeError(f"name must be text, not {name!r}.")
        self._name, self._logdir = name, LOGDIR if logdir is None else logdir
        self.finished = False
        self._options = Options(host_level, device_level, python_level)
        self._window = Window(warmup, steps, max_seconds, delay_ms)
        self._lines, self._metrics = lines, metrics
        self.limited = False  # to the batches that a ProfileCallback chose
        self.cell: CellLines | None = None  # whose lines to clock: set by the magic

    def _collectors(self) -> dict[str, Collector]:
        """What is recorded beside the profiler, by the name of its section in the sidecar."""
        collectors: dict[str, Collector] = {
            Section.VERSIONS: versions(),
            Section.PROCESS_MEMORY: process_memory(),
            Section.GRAPHS: graphs(),
        }
        if self._lines:
            collectors[Section.CELLS] = notebook_cells()
        if self.cell:
            collectors[Section.CELL] = self.cell.recorded()
        if self._metrics:
            collectors[Section.METRICS] = system_metrics()
        return collectors

    def __enter__(self) -> Profile:
        __tracebackhide__ = True
        self._recording = Recording(self._logdir, self._options, self._collectors(), self._window).start()
        self.finished, self.result = False, Profile(name=self._name)
        _session.running = self
        return self.result

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        __tracebackhide__ = True
        try:
            self.finish()
        except TfprofError as failure:
            if error is None and not isinstance(failure, NothingRecordedError):
                raise
            # A block's own error is the one to see, and what follows a block that went well must run.
            warnings.warn(f"No profile: {failure}", stacklevel=2)

    def begin_anew(self, note: str) -> None:
        """Drop what was recorded, and record from here on; the profile's note says why."""
        self._recording.begin_anew(note)

    def end(self) -> None:
        """End recording now; it is saved in the background until `finish`."""
        self._recording.end()

    def finish(self) -> Profile:
        """End the capture and return its profile, now that it can be used.

        Raises
        ------
        CaptureError
            If there is none: it could not be saved, or nothing was recorded.
        """
        _session.running = None
        try:
            run = self._recording.stop()
        except BaseException as error:
            why = str(error) if isinstance(error, CaptureError) else "An interrupt came before this profile was saved."
            self.result._fail(why)  # noqa: SLF001  (ours to complete)
            raise
        self.result._attach(runs.resolve(run))  # noqa: SLF001
        self.finished, _session.last = True, self.result
        return self.result

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function so changed that each call is captured."""
        if not callable(function):
            raise TypeError(f"This decorates functions, not {function!r}.")
        if any(check(function) for check in _LATER):
            raise TypeError(
                f"{getattr(function, '__name__', function)} returns before its work is done, so its calls cannot be "
                "profiled: use `with tfprof_nb.profile():` inside it."
            )

        @functools.wraps(function)
        def profiled(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True
            with copy.copy(self):
                return function(*args, **kwargs)

        return profiled


class profile_session:  # noqa: N801  (used as a function: a context manager)
    """Profile the runs of a `tf.compat.v1.Session` inside a block.

    TensorFlow traces the runs that are chosen (``FULL_TRACE``), each of which becomes a step. The session's ``run`` is
    used as ever, and options that are passed to it hold.

    Parameters
    ----------
    session
        A session, an interactive or a monitored one.
    name
        What the profile is called; None takes the run's own name.
    logdir
        Folder for the profile's files. None is ``tfprof_logs`` in the working folder.
    warmup
        Runs to let pass first: the first one initialises, which takes longer than all that follows.
    every
        Record every run (1), every second (2), and so on.
    runs
        Runs to record at most; None records to the block's end.

    Returns
    -------
    Profile
        What ``as`` gives. It can be used once the block has ended.

    Raises
    ------
    CaptureError
        If the profile cannot be written, or the session ran nothing.

    Examples
    --------
    >>> import tensorflow as tf, tfprof_nb as tp
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     product = tf.linalg.matmul(tf.ones((8, 8)), tf.ones((8, 8)))
    ...     with tp.profile_session(session) as p:
    ...         for _ in range(4):
    ...             _ = session.run(product)
    >>> len(p.steps.table)
    3
    """

    def __init__(
        self,
        session: Any,
        name: str | None = None,
        *,
        logdir: str | os.PathLike[str] | None = None,
        warmup: int = 1,
        every: int = 1,
        runs: int | None = None,
    ) -> None:
        self._session, self._name = session, name
        self._logdir = Path(LOGDIR if logdir is None else logdir).expanduser().absolute()
        self._choice = Choice(warmup, every, runs)

    def __enter__(self) -> Profile:
        __tracebackhide__ = True
        self._recording = SessionRecording(self._session, self._logdir, self._choice).start()
        self.result = Profile(name=self._name)
        return self.result

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        __tracebackhide__ = True
        try:
            self.result._attach(runs.resolve(self._recording.stop()))  # noqa: SLF001  (ours to complete)
            _session.last = self.result
        except TfprofError as failure:
            self.result._fail(str(failure))  # noqa: SLF001
            if error is None:
                raise
            warnings.warn(f"No profile: {failure}", stacklevel=2)  # the block's own error is the one to see


def _with_arguments_of(capture: Callable[P, profile]) -> Callable[[Callable[[profile], R]], Callable[P, R]]:
    """Let a function of a capture be called with the arguments that make the capture; its signature shows them."""

    def changed(function: Callable[[profile], R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True
            return function(capture(*args, **kwargs))

        called.__signature__ = inspect.signature(capture)  # type: ignore[attr-defined]
        return called

    return changed


@_with_arguments_of(profile)
def start(capture: profile) -> None:
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
    capture.__enter__()
    _session.started = capture


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
    capture, _session.started = _session.started, None
    if capture is None:
        raise CaptureError("There is no capture to stop: begin one with tfprof_nb.start().")
    return capture.finish()


def running() -> profile | None:
    """Return the capture of this session that runs now, if any."""
    return _session.running


def remember(captured: Profile) -> None:
    """Make a profile the newest of this session."""
    _session.last = captured


def last() -> Profile:
    """Return the newest profile that was captured in this session.

    Raises
    ------
    ProfileNotFoundError
        If nothing was captured yet.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile() as p:
    ...     pass
    >>> tp.last() is p
    True
    """
    if _session.last is None:
        raise ProfileNotFoundError("Nothing was captured in this session yet: run a cell with %%tfprofile on top.")
    return _session.last
