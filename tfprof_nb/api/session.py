"""What a Python session captures and remembers: the running capture, and the newest profile."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tfprof_nb import runs
from tfprof_nb._errors import CaptureError, ProfileNotFoundError, TfprofError
from tfprof_nb.capture.graphs import graphs
from tfprof_nb.capture.lines import CellLines
from tfprof_nb.capture.machine_load import machine_load
from tfprof_nb.capture.metrics import process_memory, system_metrics
from tfprof_nb.capture.names import names
from tfprof_nb.capture.notebook import cell_texts, notebook_cells
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.profiler import UnsavedError
from tfprof_nb.capture.python_stacks import python_stacks
from tfprof_nb.capture.recording import NothingRecordedError, Recording
from tfprof_nb.capture.run_folder import label_run
from tfprof_nb.capture.sidecar import Collector
from tfprof_nb.capture.tensorflow import versions
from tfprof_nb.capture.window import Pacing, Window
from tfprof_nb.formats.files import RUNS_FOLDER
from tfprof_nb.formats.sidecar import Section
from tfprof_nb.pending_run import PendingRun
from tfprof_nb.profiles import Profile
from tfprof_nb.storage import check_url, is_url, send

LOGDIR = Path("tfprof_logs")  # in the working directory: beside the notebook


@dataclass
class _Session:
    running: Capture | None = None
    last: Profile | None = None


_session = _Session()


class Capture:
    """One capture, and the profile that it makes.

    Parameters
    ----------
    name, logdir, lines, metrics, python, ignore
        As for `profile`.
    options, window
        What to record, and when; None is the default.
    cell
        The notebook cell whose lines to time.

    Attributes
    ----------
    profile
        The profile. It can be used once `finish` has returned.
    finished
        Whether the profile can be used.
    limited
        Whether a `ProfileCallback` limited the capture to its batches.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        logdir: str | os.PathLike[str] | None = None,
        options: Options | None = None,
        window: Window | None = None,
        lines: bool = True,
        metrics: bool = False,
        python: bool = True,
        ignore: Sequence[str] = (),
        cell: CellLines | None = None,
    ) -> None:
        self._target = logdir or LOGDIR
        self._options, self._window = options or Options(), window
        self._lines, self._metrics, self._python, self._cell = lines, metrics, python, cell
        self._run = PendingRun()
        self._name, self.profile = name, Profile(self._run, name, ignore=ignore)
        self.finished = self.limited = False

    def start(self) -> Profile:
        """Start recording. Errors are those of `profile`."""
        __tracebackhide__ = True
        self._recording = Recording(folder_for(self._target), self._options, self._collectors(), self._window).start()
        _session.running = self
        return self.profile

    def _collectors(self) -> dict[str, Collector]:
        """What is recorded beside the profiler, by the name of its section in the sidecar."""
        collectors: dict[str, Collector] = {
            Section.VERSIONS: versions(),
            Section.MACHINE_LOAD: machine_load(),
            Section.PROCESS_MEMORY: process_memory(),
            Section.GRAPHS: graphs(),
        }
        if self._lines:
            collectors[Section.CELLS] = notebook_cells()
            collectors[Section.CELL_TEXTS] = cell_texts(self._cell.text if self._cell else "")
            collectors[Section.NAMES] = names(self._cell.text if self._cell else "")
        if self._cell:
            collectors[Section.CELL] = self._cell.recorded()
        if self._python:
            collectors[Section.PYTHON] = python_stacks()
        if self._metrics:
            collectors[Section.METRICS] = system_metrics()
        return collectors

    @property
    def events_bytes(self) -> int:
        """What the recorded events take in memory: an estimate."""
        return self._recording.events_bytes

    @property
    def records_ops(self) -> bool:
        """Whether ops are recorded now, and not only marks of steps and calls."""
        return self._recording.records_ops

    @property
    def pacing(self) -> Pacing:
        """Whether it records now, and how many steps it let pass and recorded."""
        return self._recording.pacing

    def begin_anew(self, note: str) -> None:
        """Drop what was recorded, and record from here on; the profile's note says why."""
        self._recording.begin_anew(note)

    def end(self) -> None:
        """End recording now; it is saved in the background until `finish`."""
        self._recording.end()

    def finish(self, ended_by: BaseException | None = None) -> Profile:
        """End the capture and return its profile, which says so if an error ended the code.

        Raises
        ------
        CaptureError
            If there is none: it could not be saved, or nothing was recorded.
        """
        _session.running = None
        if ended_by is not None:
            self._recording.ended_by(ended_by)
        try:
            run = self._recording.stop()
        except UnsavedError as error:
            self._run.fail(str(error))
            self._run.keep(self._recording.save)
            remember(self.profile)
            raise CaptureError(str(error)) from None
        except BaseException as error:
            why = str(error) if isinstance(error, CaptureError) else "An interrupt came before this profile was saved."
            self._run.fail(why)
            raise
        if not self._recording.is_foreign:
            label_run(run, self._name)
        self._run.complete(runs.resolve(run))
        self.finished = True
        remember(self.profile)
        if problem := send_run(run, self._target):
            warnings.warn(problem, stacklevel=3)
        return self.profile


def folder_for(logdir: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return the folder that a capture writes to: of a URL, one on this machine.

    Raises
    ------
    MissingDependencyError, TfprofError
        There is no way to reach the URL.
    """
    if not is_url(logdir):
        return logdir
    check_url(os.fspath(logdir))
    return tempfile.mkdtemp(dir=_local_copies().name)


def send_run(run: Path, logdir: str | os.PathLike[str]) -> str:
    """Send a run's folder to its logdir, if that is a URL; return why that failed, and what to do, else empty."""
    if not is_url(logdir):
        return ""
    try:
        send(run, f"{os.fspath(logdir).rstrip('/')}/{RUNS_FOLDER}/{run.name}")
    except TfprofError as error:
        return f'{error} Save the profile elsewhere: tfprof_nb.last().save("FOLDER").'
    return ""


@cache
def _local_copies() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for profiles that were sent elsewhere; it is removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="tfprof_nb-")


def hides(block_error: BaseException | None, failure: Exception) -> bool:
    """Whether a capture's failure becomes a message beside the block, and no exception.

    If the block raised, its own error is the one to see. If the block went well and there was nothing to record, the
    code after it must run.
    """
    return block_error is not None or isinstance(failure, NothingRecordedError)


def running() -> Capture | None:
    """Return the capture that runs now, if any."""
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
