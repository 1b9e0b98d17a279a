"""TensorFlow's profiler: a session that any thread can begin and end, and that is saved in the background."""

import ctypes
import os
import re
import shutil
import tempfile
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from tfprof_nb._errors import CaptureActiveError, CaptureError
from tfprof_nb.capture.detail import Detail
from tfprof_nb.capture.options import EVERYTHING, Options
from tfprof_nb.capture.tensorflow import is_tracing, profiler_is_started, session_class, tensorflow
from tfprof_nb.capture.trace_level import leave_out_thread_pool_marks
from tfprof_nb.formats.files import RUNS_FOLDER

_OTHER_PROFILER = (
    "Another TensorFlow profiler is running in this process, and only one can run at a time. End it first: call "
    "tf.profiler.experimental.stop() if it was started by hand, remove profile_batch from the TensorBoard callback, or "
    "wait until a remote capture has finished."
)

_POLL_S = 1e-4
_WAKE_S = 0.5
_STDERR = 2
_PROFILER_LINE = re.compile(rb"(profiler_session|save_profile)\.cc:\d+\] (Profiler session|Collecting XSpace)")
_COPIED_BYTES = 16 << 20


class UnsavedError(CaptureError):
    """The profile is in memory, and could not be written to its folder."""


class Profiler:
    """TensorFlow's profiler, for one recording.

    ``tf.profiler.experimental`` does not know of its session, so that the profiled code can use that module as ever
    (`capture.foreign_profilers`).

    Parameters
    ----------
    folder
        Where TensorFlow saves the profile.
    options
        What to record.
    detail
        Says when to record ops; None is always.

    Raises
    ------
    CaptureActiveError
        If another profiler runs in this process already.
    """

    def __init__(self, folder: Path, options: Options, detail: Detail | None = None) -> None:
        __tracebackhide__ = True
        self._folder, self._options, self._memory = folder, options, MemoryFolder()
        self._detail = detail
        self._session: Any = None
        self._new_session = session_class()  # before `foreign_profilers` replaces it
        # Not the thread itself: after an interrupted `join`, CPython 3.11 takes a running thread for a finished one.
        self._saved: threading.Event | None = None
        self._failure: CaptureError | None = None
        self._lock = threading.Lock()
        if profiler_is_started():
            raise CaptureActiveError(_OTHER_PROFILER)

    @property
    def is_running(self) -> bool:
        """Whether it is recording."""
        return self._session is not None

    @property
    def began(self) -> bool:
        """Whether it is recording or has recorded."""
        return self.is_running or self._saved is not None

    @property
    def is_saving(self) -> bool:
        """Whether the profile is being saved."""
        return self._saved is not None and not self._saved.is_set()

    def begin(self) -> None:
        """Begin to record, and drop an earlier recording.

        Raises
        ------
        CaptureError
            If it does not start; `CaptureActiveError` if another profiler is the reason.
        """
        __tracebackhide__ = True
        self.wait()
        with self._lock:
            self._session, self._saved = None, None  # a session without a reference ends
            shutil.rmtree(self._folder / RUNS_FOLDER, ignore_errors=True)
            self._memory.clear()
            self._session = _started(self._new_session(), self._memory.path, self._options)
            if self._options.host_level < EVERYTHING:
                leave_out_thread_pool_marks()
            if self._detail:
                self._detail.begin()

    def record_all(self) -> None:
        """Record ops all the time from the next beginning on."""
        self._end_detail()
        self._detail = None

    def end(self) -> None:
        """End recording, if it is recording, and save the profile in the background."""
        with self._lock:
            if self._session is not None:
                self._end_detail()
                self._saved, session, self._session = threading.Event(), self._session, None
                threading.Thread(target=self._save, args=(session, self._saved), daemon=True).start()
                while is_tracing() and not self._saved.is_set():
                    time.sleep(_POLL_S)  # saving begins by ending the recording

    def drop(self) -> None:
        """End recording, if it is recording, without saving."""
        with self._lock:
            if self._session is not None:
                self._end_detail()
                self._session.stop()
                self._session = None

    def _end_detail(self) -> None:
        if self._detail:
            self._detail.end()

    def _save(self, session: Any, saved: threading.Event) -> None:
        try:
            with no_profiler_log():
                session.export_to_tb()
        except Exception as error:  # noqa: BLE001  (`wait` raises it)
            self._failure = CaptureError(f"TensorFlow's profiler could not collect its data, which is lost: {error}.")
        else:
            self._copy()
        finally:
            saved.set()

    def _copy(self) -> None:
        try:
            self.write(self._folder)
        except UnsavedError as error:
            self._failure = error

    def write(self, folder: Path) -> None:
        """Write the profile from memory to a folder.

        Raises
        ------
        UnsavedError
            It cannot be written; it stays in memory.
        """
        try:
            self._memory.copy_to(folder)
        except OSError as error:
            raise UnsavedError(
                f"The profile could not be saved in {folder.parent}: {error.strerror or error}. It is kept in memory: "
                'save it in another folder with tfprof_nb.last().save("FOLDER").'
            ) from None
        self._memory.clear()

    def wait(self) -> None:
        """Wait until the profile is saved. An interrupt ends the wait, not the saving.

        Raises
        ------
        CaptureError
            If the profile could not be saved.
        """
        # A wait without an end misses a signal that comes just before the thread begins to sleep.
        while self._saved is not None and not self._saved.wait(_WAKE_S):
            pass
        if self._failure is not None:
            raise self._failure

    def when_saved(self, then: Callable[[], object]) -> None:
        """Call a function when the profile is saved: now, or in another thread if the wait was interrupted."""
        if self._saved is not None and self.is_saving:
            threading.Thread(target=_call_after, args=(self._saved, then), daemon=True).start()
        else:
            then()


def _call_after(saved: threading.Event, then: Callable[[], object]) -> None:
    saved.wait()
    then()


def _started(session: Any, folder: str, options: Options) -> Any:
    __tracebackhide__ = True
    try:
        with no_profiler_log():
            session.start(folder, options.for_tensorflow())
    except tensorflow().errors.AlreadyExistsError:
        raise CaptureActiveError(_OTHER_PROFILER) from None
    except Exception as error:
        raise CaptureError(f"TensorFlow's profiler did not start: {error}") from error
    return session


@contextmanager
def no_profiler_log() -> Iterator[None]:
    """Drop the profiler's messages about its start and end while the block runs; other lines are written after it.

    TensorFlow writes them from C++ at its default log level, which cannot be changed once it is loaded, and a notebook
    shows them under the cell.
    """
    try:
        original = os.dup(_STDERR)
    except OSError:  # a process without stderr
        yield
        return
    with tempfile.TemporaryFile() as written:
        os.dup2(written.fileno(), _STDERR)
        try:
            yield
        finally:
            os.dup2(original, _STDERR)
            os.close(original)
            written.seek(0)
            for line in written:
                if not _PROFILER_LINE.search(line):
                    os.write(_STDERR, line)


class MemoryFolder:
    """A folder in the memory of this process, in a file system of TensorFlow's: a full disk loses nothing.

    Attributes
    ----------
    path
        Its path for TensorFlow.
    """

    def __init__(self) -> None:
        self.path = f"ram://tfprof_nb/{uuid.uuid4().hex}"
        weakref.finalize(self, _remove_folder, self.path).atexit = False

    def copy_to(self, folder: Path) -> None:
        """Copy the files to a folder on disk, under their paths here.

        Raises
        ------
        OSError
            They cannot be written; the part that was written is removed.
        """
        files = tensorflow().io.gfile
        for found, _, names in files.walk(self.path):
            for name in names:
                source = PurePosixPath(found.removeprefix(self.path).strip("/"), name)
                _copy(f"{self.path}/{source}", folder / source)

    def clear(self) -> None:
        """Remove the files, and give their memory back to the system."""
        _remove_folder(self.path)
        with suppress(OSError, AttributeError):  # a C library of another kind
            ctypes.CDLL(None).malloc_trim(0)


def _copy(source: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tensorflow().io.gfile.GFile(source, "rb") as stream, target.open("wb") as file:
            while part := stream.read(_COPIED_BYTES):
                file.write(part)
    except OSError:
        target.unlink(missing_ok=True)
        raise


def _remove_folder(path: str) -> None:
    files = tensorflow().io.gfile
    if files.exists(path):
        files.rmtree(path)
