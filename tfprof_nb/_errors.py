"""The errors that tfprof_nb raises: each message says what happened and what to do next."""

from tfprof_nb._units import printable


class TfprofError(Exception):
    """Base of every error that tfprof_nb raises on purpose.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> try:
    ...     tp.load("nowhere")
    ... except tp.TfprofError as error:
    ...     print(type(error).__name__)
    ProfileNotFoundError
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))  # names of files and what is in them can be anything


class ProfileNotFoundError(TfprofError, FileNotFoundError):
    """There is no profile at the given path.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> tp.load("nowhere")
    Traceback (most recent call last):
    tfprof_nb._errors.ProfileNotFoundError: There is no file or folder nowhere (working folder: ...). Check the path.
    """


class BadProfileError(TfprofError, ValueError):
    """A profile file is empty, cut short, or not a profile at all.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> from pathlib import Path
    >>> Path("empty.xplane.pb").touch()
    >>> tp.load("empty.xplane.pb")
    Traceback (most recent call last):
    tfprof_nb._errors.BadProfileError: ...
    """


class CaptureError(TfprofError, RuntimeError):
    """A capture could not be started or saved.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> tp.stop()
    Traceback (most recent call last):
    tfprof_nb._errors.CaptureError: There is no capture to stop: begin one with tfprof_nb.start().
    """


class CaptureActiveError(CaptureError):
    """Another capture is running in this process.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile():
    ...     tp.start()
    Traceback (most recent call last):
    tfprof_nb._errors.CaptureActiveError: ...
    """


class MissingDependencyError(TfprofError, ImportError):
    """An optional dependency is needed for what was asked.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> issubclass(tp.MissingDependencyError, ImportError)
    True
    """


class BudgetError(TfprofError, AssertionError):
    """A profile exceeds a limit that was set for it.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile() as p:
    ...     pass
    >>> p.check_budget(step_ms=30)
    Traceback (most recent call last):
    tfprof_nb._errors.BudgetError: ...
    """
