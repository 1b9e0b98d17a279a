"""TensorFlow's profiler: one session of our own, begun and ended from any thread, saved in the background."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tfprof_nb._errors import CaptureActiveError, CaptureError
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.profiler_log import no_profiler_log
from tfprof_nb.capture.tensorflow import is_tracing, profiler_is_started, session_class, tensorflow
from tfprof_nb.formats.files import RUNS_FOLDER

_OTHER_PROFILER = (
    "Another TensorFlow profiler is running in this process, and only one can run at a time. End it first: "
    "tf.profiler.experimental.stop() if it was started by hand, or take the TensorBoard callback's profile_batch out, "
    "or let a remote capture finish."
)

_BRIEFLY_S = 1e-4


class Profiler:
    """TensorFlow's profiler, to be run once.

    Its session is our own and unknown to ``tf.profiler.experimental``, so that what the profiled code does there
    has the effect that it has without us (`capture.foreign_profilers`).

    Parameters
    ----------
    folder
        Where TensorFlow is to save the profile.
    options
        What to record.

    Raises
    ------
    CaptureActiveError
        If another profiler runs in this process already.
    """

    def __init__(self, folder: Path, options: Options) -> None:
        __tracebackhide__ = True
        self._folder, self._options = folder, options
        self._session: Any = None
        self._new_session = session_class()  # before `others` replaces it
        # Not the thread itself: an interrupted `join` makes CPython 3.11 take a running thread for a finished one.
        self._saved: threading.Event | None = None
        self._failure: CaptureError | None = None
        self._lock = threading.Lock()
        if profiler_is_started():
            raise CaptureActiveError(_OTHER_PROFILER)

    @property
    def is_running(self) -> bool:
        """Whether it records now."""
        return self._session is not None

    @property
    def began(self) -> bool:
        """Whether it records or has recorded."""
        return self.is_running or self._saved is not None

    @property
    def is_saving(self) -> bool:
        """Whether what was recorded is being saved."""
        return self._saved is not None and not self._saved.is_set()

    def begin(self) -> None:
        """Begin to record; what was recorded before is dropped.

        Raises
        ------
        CaptureError
            If it does not start; `CaptureActiveError` if that is because another one runs.
        """
        __tracebackhide__ = True
        self.wait()
        with self._lock:
            self._session, self._saved = None, None  # a session without a reference ends
            shutil.rmtree(self._folder / RUNS_FOLDER, ignore_errors=True)
            self._session = _started(self._new_session(), self._folder, self._options)

    def end(self) -> None:
        """End recording, and save what was recorded in the background; do nothing where nothing is recorded."""
        with self._lock:
            if self._session is not None:
                self._saved, session, self._session = threading.Event(), self._session, None
                threading.Thread(target=self._save, args=(session, self._saved), daemon=True).start()
                while is_tracing() and not self._saved.is_set():
                    time.sleep(_BRIEFLY_S)  # saving begins with the end of recording

    def drop(self) -> None:
        """End recording without saving; do nothing where nothing is recorded."""
        with self._lock:
            if self._session is not None:
                self._session.stop()
                self._session = None

    def _save(self, session: Any, saved: threading.Event) -> None:
        try:
            with no_profiler_log():
                session.export_to_tb()
        except Exception as error:  # noqa: BLE001  (raised where it is waited for)
            self._failure = CaptureError(
                f"The profile could not be saved, its data is lost: {error}. Make room there, record less (steps=..., "
                "max_seconds=...), or choose another folder with logdir=... (in the magic: --out DIR)."
            )
        finally:
            saved.set()

    def wait(self) -> None:
        """Wait until all is saved; this can be interrupted, and saving goes on then.

        Raises
        ------
        CaptureError
            If the profile could not be saved.
        """
        if self._saved is not None:
            self._saved.wait()
        if self._failure is not None:
            raise self._failure

    def when_saved(self, then: Callable[[], object]) -> None:
        """Call a function when nothing is being saved: now, or later in another thread if waiting was interrupted."""
        if self._saved is not None and self.is_saving:
            threading.Thread(target=_after, args=(self._saved, then), daemon=True).start()
        else:
            then()


def _after(saved: threading.Event, then: Callable[[], object]) -> None:
    saved.wait()
    then()


def _started(session: Any, folder: Path, options: Options) -> Any:
    __tracebackhide__ = True
    try:
        with no_profiler_log():
            session.start(str(folder), options.for_tensorflow())
    except tensorflow().errors.AlreadyExistsError:
        raise CaptureActiveError(_OTHER_PROFILER) from None
    except Exception as error:
        raise CaptureError(f"TensorFlow's profiler did not start: {error}") from error
    return session
