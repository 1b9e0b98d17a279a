"""One capture: it records while a block runs, and writes a run folder."""

import os
import shutil
import threading
import time
import warnings
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

from tfprof_nb._errors import CaptureActiveError, CaptureError
from tfprof_nb.capture.detail import Detail
from tfprof_nb.capture.foreign_profilers import ForeignProfilers
from tfprof_nb.capture.interrupts import interrupts_wait
from tfprof_nb.capture.keras import keras_steps
from tfprof_nb.capture.marked_calls import iterator_ends, model_files
from tfprof_nb.capture.memory_watch import MemoryWatch
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.profiler import Profiler, UnsavedError
from tfprof_nb.capture.run_folder import publish, staging_folder
from tfprof_nb.capture.sidecar import Collector, Gather, gathered, write_sidecar
from tfprof_nb.capture.tensorflow import tensorflow
from tfprof_nb.capture.window import Pacing, Window
from tfprof_nb.formats.files import RUNS_FOLDER, SIDECAR, XSPACE, local_path
from tfprof_nb.formats.sidecar import ENDED_NOTE, INTERRUPTED_NOTE, CaptureSection, Section, Stopped

_claim = threading.Lock()  # held while a capture runs in this process
_saving = threading.Event()  # set while the claim is held only by saving: an interrupt ended the wait for it
_POLL_S = 0.01
_OUT_OF_MEMORY = (
    "An op found no memory. The page Memory shows what held it; programs that share the device hold memory too "
    "(nvidia-smi lists them on a GPU)."
)


def _claimed() -> bool:
    """Claim this process for a capture, waiting for a profile that is being saved; return whether that succeeded."""
    while not _claim.acquire(blocking=False):
        if not _saving.is_set():
            return False
        time.sleep(_POLL_S)
    return True


def _release_claim() -> None:
    _saving.clear()
    _claim.release()


class NothingRecordedError(CaptureError):
    """The block ended before recording began."""


class Recording:
    """A capture, from `start` to `stop`.

    Parameters
    ----------
    logdir
        Where to write the run folder, as ``plugins/profile/<run>/<host>.xplane.pb``.
    options
        What to record.
    collectors
        What to record beside the profiler, by the name of its section in the sidecar.
    window
        When to record; None is all the time.
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        options: Options,
        collectors: Mapping[str, Collector] | None = None,
        window: Window | None = None,
    ) -> None:
        self.logdir = local_path(logdir).absolute()  # the code may change folders
        self.options = options
        self._window, self._note, self._ended_by = window or Window(), "", ""
        self.is_foreign = False  # whether the run is that of a profiler that the profiled code ran
        in_windows = not (self._window.record_all or self._window.has_end) and options == Options()
        self._detail = Detail() if in_windows else None
        self._memory = MemoryWatch(self._stop_early, self._detail, bounded=not self._window.has_end)
        self._stopped = list[Stopped]()
        self._collectors, self._sections = dict(collectors or {}), dict[str, Gather]()
        self._collecting, self._marking = ExitStack(), ExitStack()
        self._foreign = ForeignProfilers(self._give_way)

    def start(self) -> Self:
        """Start the capture, once.

        Raises
        ------
        MissingDependencyError
            If TensorFlow is not installed.
        CaptureActiveError
            If a profiler is running in this process already, ours or another.
        CaptureError
            If nothing can be written to the logdir, or the profiler does not start.
        """
        __tracebackhide__ = True
        tensorflow()
        if not _claimed():
            raise CaptureActiveError(
                "A capture is already running, and TensorFlow can run only one at a time in a process. End it first: "
                "tfprof_nb.stop() ends a capture that tfprof_nb.start() began."
            )
        with ExitStack() as files, ExitStack() as undo:
            files.callback(_release_claim)
            with interrupts_wait():
                self._staging = staging_folder(self.logdir)
                files.callback(shutil.rmtree, self._staging, ignore_errors=True)
                self._profiler = Profiler(self._staging, self.options, self._detail)
                undo.callback(self._profiler.drop)
                undo.callback(self._memory.end)
                self._pacing = Pacing(self._window, self._profiler, self._begin, self._end)
                undo.enter_context(self._foreign)
                undo.enter_context(self._marking)
                self._marking.enter_context(keras_steps())
                self._marking.enter_context(model_files())
                self._marking.enter_context(iterator_ends())
                undo.enter_context(self._collecting)
                if self._detail:
                    undo.enter_context(self._detail.watching())
                undo.enter_context(self._pacing)
            self._changes, self._files = undo.pop_all(), files.pop_all()
        return self

    @property
    def events_bytes(self) -> int:
        """What the recorded events take in memory, by the growth of the process: an estimate."""
        return self._memory.events_bytes

    @property
    def records_ops(self) -> bool:
        """Whether ops are recorded now; else only step marks, calls and callbacks."""
        return self._detail is None or self._detail.is_open or not self._detail.is_active

    @property
    def pacing(self) -> Pacing:
        """Whether it records now, and how many steps it let pass and recorded."""
        return self._pacing

    def _begin(self) -> None:
        __tracebackhide__ = True
        with interrupts_wait():
            self._collect()
            self._profiler.begin()
            self._memory.begin()

    def _collect(self) -> None:
        for name in list(self._collectors):
            self._sections[name] = self._collecting.enter_context(self._collectors.pop(name))

    def _end(self) -> None:
        with interrupts_wait():
            self._memory.end()
            self._profiler.end()
            self._collecting.close()

    def _stop_early(self, stopped: Stopped) -> None:
        """End the recording because of the memory that it takes; the code goes on."""
        self._stopped.append(stopped)
        self._pacing.stop()

    def _give_way(self) -> bool:
        """Let another profiler start; our recording up to now is saved, in case the other profiler saves nothing."""
        cut_short = self._profiler.is_running or not self._profiler.began
        self._pacing.take_over()
        self._profiler.end()
        with suppress(CaptureError):  # raised at the end, if our profile is needed then
            self._profiler.wait()
        if cut_short:
            self._collect()
        return cut_short

    def begin_anew(self, note: str) -> None:
        """Drop the recording and record all from here on, ignoring the window. The note says why."""
        self._note = note
        self._stopped.clear()
        self._pacing.take_over()
        self._profiler.record_all()
        self._begin()

    def ended_by(self, error: BaseException) -> None:
        """Let the profile's notes say that an error ended the code."""
        failed = ENDED_NOTE.format(how=f"ended with {type(error).__name__}")
        self._ended_by = INTERRUPTED_NOTE if isinstance(error, KeyboardInterrupt) else failed
        if type(error).__name__ == "ResourceExhaustedError":
            self._ended_by += f" {_OUT_OF_MEMORY}"

    def end(self) -> None:
        """End recording; the profile is saved in the background."""
        self._pacing.take_over()
        self._end()

    def stop(self) -> Path:
        """End the capture, undo all that it changed, and return its run folder.

        If the profiled code ran a profiler of its own (`capture.foreign_profilers`), the run folder is that profiler's.

        Raises
        ------
        CaptureError
            If the profile could not be saved; `NothingRecordedError` if recording did not begin.
        """
        with ExitStack() as undo:
            undo.callback(self._clear_away)
            self._marking.close()  # the last marks must still be recorded
            fewer = self._pacing.note()
            self.end()
            self._sidecar = self._capture_section(fewer) | gathered(self._sections)  # TensorFlow saves meanwhile
            if self._foreign.cut_short and self._foreign.runs:
                run, self.is_foreign = self._foreign.runs[-1], True
                self._add_sidecar(run)
                return run
            self._profiler.wait()
            run = self._published(self._staging, self.logdir)
        self._check_options(run)
        return run

    def save(self, logdir: Path) -> Path:
        """Write a profile that `stop` could not save, because its disk was full, to another folder.

        Raises
        ------
        CaptureError
            It cannot be written there either; it stays in memory.
        """
        staging = staging_folder(logdir)
        try:
            self._profiler.write(staging)
            return self._published(staging, logdir)
        except UnsavedError as error:
            raise CaptureError(str(error)) from None
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _clear_away(self) -> None:
        """Undo all changes; once the profile is saved, remove the staging folder and release the claim."""
        with interrupts_wait():
            self._changes.close()
            if self._profiler.is_saving:
                _saving.set()
            self._profiler.when_saved(self._files.close)

    def _published(self, staging: Path, logdir: Path) -> Path:
        """Move the run folder that TensorFlow saved to its place, with its sidecar, and return it."""
        run = self._saved_run(staging)
        self._add_sidecar(run)
        return publish(run, staging, logdir)

    def _saved_run(self, staging: Path) -> Path:
        if not self._profiler.began:
            why = self._foreign.note() or self._pacing.why_nothing()
            raise NothingRecordedError(f"Nothing was recorded: {why}")
        runs = sorted({file.parent for file in staging.glob(f"{RUNS_FOLDER}/*/*{XSPACE}")})
        if not runs:
            raise CaptureError("TensorFlow's profiler saved no file, so there is no profile of this run.")
        return runs[-1]

    def _capture_section(self, fewer: str) -> dict[str, Any]:
        options = "" if self._foreign.cut_short else self.options.note()
        notes = [note for note in (self._ended_by, self._note, self._foreign.note(), options, fewer) if note]
        if self._stopped and not self._foreign.cut_short:
            return {Section.CAPTURE: CaptureSection(notes=notes, stopped=self._stopped[-1])}
        return {Section.CAPTURE: CaptureSection(notes=notes)} if notes else {}

    def _add_sidecar(self, run: Path) -> None:
        try:
            write_sidecar(run, self._sidecar)
        except OSError as error:
            for part in run.glob(f"*{SIDECAR}"):
                part.unlink()
            warnings.warn(f"The data recorded beside the profiler could not be saved: {error}.", stacklevel=5)

    def _check_options(self, run: Path) -> None:
        differing = "" if self.options == Options() else self.options.not_obeyed(run)
        if differing:
            warnings.warn(f"TensorFlow {tensorflow().__version__} recorded with {differing}.", stacklevel=5)
