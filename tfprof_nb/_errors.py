"""The errors that tfprof_nb raises: each message says what happened and what to do next."""


class TfprofError(Exception):
    """Base of every error that tfprof_nb raises on purpose."""


class ProfileNotFoundError(TfprofError, FileNotFoundError):
    """There is no profile at the given path."""


class BadProfileError(TfprofError, ValueError):
    """A profile file is empty, cut short, or not a profile at all."""


class CaptureError(TfprofError, RuntimeError):
    """A capture could not be started or saved."""


class CaptureActiveError(CaptureError):
    """Another capture is running in this process."""


class MissingDependencyError(TfprofError, ImportError):
    """An optional dependency is needed for what was asked."""
