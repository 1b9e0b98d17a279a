"""TensorFlow profiles in notebooks: what is slow, why, and what to change.

Everything is imported on first use: ``import tfprof_nb`` alone brings in neither TensorFlow nor widgets.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "profile": "tfprof_nb.api.profile",
    "profile_session": "tfprof_nb.api.profile",
    "start": "tfprof_nb.api.profile",
    "stop": "tfprof_nb.api.profile",
    "last": "tfprof_nb.api.profile",
    "step": "tfprof_nb.capture.marks",
    "StepMarker": "tfprof_nb.capture.step_marker",
    "ProfileCallback": "tfprof_nb.api.profile_callback",
    "start_server": "tfprof_nb.capture.server",
    "capture_remote": "tfprof_nb.api.capture_remote",
    "CaptureDialog": "tfprof_nb.api.capture_dialog",
    "check": "tfprof_nb.api.check",
    "profile_call": "tfprof_nb.api.profile_call",
    "Profile": "tfprof_nb.profiles",
    "Profiler": "tfprof_nb.api.profiler",
    "compare": "tfprof_nb.api.compare",
    "load": "tfprof_nb.profiles",
    "Run": "tfprof_nb.runs",
    "find_runs": "tfprof_nb.api.find_runs",
    "TfprofError": "tfprof_nb._errors",
    "ProfileNotFoundError": "tfprof_nb._errors",
    "BadProfileError": "tfprof_nb._errors",
    "CaptureError": "tfprof_nb._errors",
    "CaptureActiveError": "tfprof_nb._errors",
    "MissingDependencyError": "tfprof_nb._errors",
}

__all__ = ["__version__", "load_ipython_extension", "unload_ipython_extension", *_HOMES]  # noqa: PLE0604

if TYPE_CHECKING:
    from tfprof_nb._errors import BadProfileError as BadProfileError
    from tfprof_nb._errors import CaptureActiveError as CaptureActiveError
    from tfprof_nb._errors import CaptureError as CaptureError
    from tfprof_nb._errors import MissingDependencyError as MissingDependencyError
    from tfprof_nb._errors import ProfileNotFoundError as ProfileNotFoundError
    from tfprof_nb._errors import TfprofError as TfprofError
    from tfprof_nb.api.capture_dialog import CaptureDialog as CaptureDialog
    from tfprof_nb.api.capture_remote import capture_remote as capture_remote
    from tfprof_nb.api.check import check as check
    from tfprof_nb.api.compare import compare as compare
    from tfprof_nb.api.find_runs import find_runs as find_runs
    from tfprof_nb.api.profile import last as last
    from tfprof_nb.api.profile import profile as profile
    from tfprof_nb.api.profile import profile_session as profile_session
    from tfprof_nb.api.profile import start as start
    from tfprof_nb.api.profile import stop as stop
    from tfprof_nb.api.profile_call import profile_call as profile_call
    from tfprof_nb.api.profile_callback import ProfileCallback as ProfileCallback
    from tfprof_nb.api.profiler import Profiler as Profiler
    from tfprof_nb.capture.marks import step as step
    from tfprof_nb.capture.server import start_server as start_server
    from tfprof_nb.capture.step_marker import StepMarker as StepMarker
    from tfprof_nb.profiles import Profile as Profile
    from tfprof_nb.profiles import load as load
    from tfprof_nb.runs import Run as Run


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tfprof_nb' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Add the magics to a shell: what ``%load_ext tfprof_nb`` calls."""
    from tfprof_nb.notebook.magics import register

    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take the magics out again: what ``%unload_ext tfprof_nb`` calls."""
    from tfprof_nb.notebook.magics import unregister

    unregister(shell)
