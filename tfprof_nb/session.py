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
from typing import ParamSpec, TypeVar

from tfprof_nb import runs
from tfprof_nb._errors import CaptureError, ProfileNotFoundError, TfprofError
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.recording import Recording
from tfprof_nb.profiles import Profile

P = ParamSpec("P")
R = TypeVar("R")

LOGDIR = Path("tfprof_logs")  # in the working directory: beside the notebook


@dataclass
class _Session:
    """What a session remembers: the capture that `start` began, and the newest profile."""

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
    host_level
        0 nothing of the host, 1 the most important events, 2 also ops, 3 everything.
    device_level
        1 records GPUs and TPUs, 0 does not.
    python_level
        1 records every Python call (large and slow), 0 does not.

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
        host_level: int = 2,
        device_level: int = 1,
        python_level: int = 0,
    ) -> None:
        if callable(name):
            raise TypeError("Write the decorator with brackets: @tfprof_nb.profile()")
        self._name, self._logdir = name, LOGDIR if logdir is None else logdir
        self.finished = False
        self._options = Options(host_level, device_level, python_level)

    def __enter__(self) -> Profile:
        __tracebackhide__ = True
        self._recording = Recording(self._logdir, self._options)
        self.finished, self.result = False, Profile(name=self._name)
        return self.result

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        __tracebackhide__ = True
        try:
            self.finish()
        except TfprofError as failure:
            if error is None:
                raise
            warnings.warn(f"No profile: {failure}", stacklevel=2)  # the block's own error is the one to see

    def finish(self) -> Profile:
        """End the capture and return its profile, now that it can be used."""
        self.result._attach(runs.resolve(self._recording.stop()))  # noqa: SLF001  (ours to complete)
        self.finished, _session.last = True, self.result
        return self.result

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function so changed that each call is captured."""
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError(
                f"{function.__name__} returns before its work is done, so its calls cannot be profiled: "
                "use `with tfprof_nb.profile():` inside it."
            )

        @functools.wraps(function)
        def profiled(*args: P.args, **kwargs: P.kwargs) -> R:
            with copy.copy(self):
                return function(*args, **kwargs)

        return profiled


def start(
    name: str | None = None,
    *,
    logdir: str | os.PathLike[str] | None = None,
    host_level: int = 2,
    device_level: int = 1,
    python_level: int = 0,
) -> None:
    """Start a capture that goes on until `stop`. Parameters and errors are those of `profile`.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> tp.start("warm")
    >>> p = tp.stop()
    >>> p.name
    'warm'
    """
    capture = profile(name, logdir=logdir, host_level=host_level, device_level=device_level, python_level=python_level)
    capture.__enter__()
    _session.started = capture


def stop() -> Profile:
    """End the capture that `start` began, and return its profile.

    Raises
    ------
    CaptureError
        If `start` was not called, or the profile could not be saved.
    """
    capture, _session.started = _session.started, None
    if capture is None:
        raise CaptureError("There is no capture to stop: begin one with tfprof_nb.start().")
    return capture.finish()


def last() -> Profile:
    """Return the newest profile that was captured in this session.

    Raises
    ------
    ProfileNotFoundError
        If nothing was captured yet.
    """
    if _session.last is None:
        raise ProfileNotFoundError("Nothing was captured in this session yet: run a cell with %%tfprofile on top.")
    return _session.last
