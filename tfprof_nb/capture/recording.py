"""One capture: starting TensorFlow's profiler, stopping it, and the run folder that this leaves on disk."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import threading
import warnings
import weakref
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tfprof_nb._errors import CaptureActiveError, CaptureError
from tfprof_nb.capture.keras import keras_steps
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.profiler_log import no_profiler_log
from tfprof_nb.capture.sidecar import Collector, write_sidecar
from tfprof_nb.capture.tensorflow import forget_profiler_session, profiler_session, tensorflow

_claim = threading.Lock()  # held while a capture of this process runs


class Recording:
    """A running capture, from its making until `stop`.

    Parameters
    ----------
    logdir
        Where the run folder is to be written, as ``plugins/profile/<run>/<host>.xplane.pb``.
    options
        What to record.
    collectors
        What to record beside the profiler, by the name of its section in the sidecar.

    Raises
    ------
    MissingDependencyError
        If TensorFlow is not installed.
    CaptureActiveError
        If a profiler runs in this process already, ours or another.
    CaptureError
        If nothing can be written to ``logdir``, or the profiler does not start.
    """

    def __init__(
        self, logdir: str | os.PathLike[str], options: Options, collectors: Mapping[str, Collector] | None = None
    ) -> None:
        __tracebackhide__ = True
        self.logdir, self.options = Path(logdir).expanduser().absolute(), options  # the code may change folders
        self._tf = tensorflow()
        if not _claim.acquire(blocking=False):
            raise CaptureActiveError(
                "A capture is running already, and TensorFlow can only run one at a time in a process. "
                "Let it end first: tfprof_nb.stop() ends one that tfprof_nb.start() began."
            )
        with ExitStack() as undo:
            undo.callback(_claim.release)
            self._staging = _staging_folder(self.logdir)
            undo.callback(shutil.rmtree, self._staging, ignore_errors=True)
            self._marking = undo.enter_context(ExitStack())
            self._marking.enter_context(keras_steps())
            self._sections = {name: undo.enter_context(collector) for name, collector in (collectors or {}).items()}
            # Weak: a session that the profiled code ends must end.
            self._session = weakref.ref(_start_profiler(self._tf, self._staging, options))
            self._undo = undo.pop_all()

    def stop(self) -> Path:
        """End the capture and return its run folder; everything that the capture changed is as it was.

        Raises
        ------
        CaptureError
            If the profile could not be saved.
        """
        with self._undo:
            self._marking.close()  # what it marks last must still be recorded
            _stop_profiler(self._tf, self._session)
            run = _saved_run(self._staging)
            write_sidecar(run, self._sections)
            run = _publish(run, self._staging, self.logdir)
        self._check_options(run)
        return run

    def _check_options(self, run: Path) -> None:
        differing = "" if self.options == Options() else self.options.not_obeyed(run)
        if differing:
            warnings.warn(f"TensorFlow {self._tf.__version__} recorded with {differing}.", stacklevel=5)


def _staging_folder(logdir: Path) -> Path:
    """Make a folder inside ``logdir`` for TensorFlow to write to, and prove that files can be written there.

    TensorFlow finds out only at the end, when the data is lost; and two of its captures within one second take
    the same folder, so that one overwrites the other.
    """
    __tracebackhide__ = True
    try:
        logdir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=logdir) as probe:
            probe.write(b"can be written")
            probe.flush()
        return Path(tempfile.mkdtemp(prefix=".capturing-", dir=logdir))
    except OSError as error:
        raise CaptureError(
            f"Profiles cannot be written to {logdir}: {error.strerror or error}. "
            "Choose another folder with logdir=... (in the magic: --out DIR)."
        ) from None


def _start_profiler(tf: Any, folder: Path, options: Options) -> object:
    """Start TensorFlow's profiler and return its session."""
    __tracebackhide__ = True
    if profiler_session() is not None:
        raise CaptureActiveError(_OTHER_PROFILER)
    try:
        with no_profiler_log():
            tf.profiler.experimental.start(str(folder), options.for_tensorflow())
    except tf.errors.AlreadyExistsError:
        # TensorFlow keeps the session that it refused, and would refuse every later one because of it.
        forget_profiler_session()
        raise CaptureActiveError(_OTHER_PROFILER) from None
    except Exception as error:
        raise CaptureError(f"TensorFlow's profiler did not start: {error}") from error
    return profiler_session()


_OTHER_PROFILER = (
    "Another TensorFlow profiler is running in this process, and only one can run at a time. End it first: "
    "tf.profiler.experimental.stop() if it was started by hand, or take the TensorBoard callback's profile_batch out, "
    "or let a remote capture finish."
)


def _stop_profiler(tf: Any, session: weakref.ref[object]) -> None:
    """Stop our own session and save it; one that somebody else stopped was saved by them."""
    if profiler_session() is None or profiler_session() is not session():
        warnings.warn(
            "Something in the profiled code stopped the profiler (tf.profiler.experimental.stop(), perhaps): "
            "the profile ends there.",
            stacklevel=5,
        )
        return
    try:
        with no_profiler_log():
            tf.profiler.experimental.stop()
    except Exception as error:
        raise CaptureError(f"The profile could not be saved, its data is lost: {error}") from error
    finally:
        forget_profiler_session()  # TensorFlow forgets this when it is interrupted while it saves


def _saved_run(staging: Path) -> Path:
    """Return the run folder that TensorFlow saved."""
    runs = sorted({file.parent for file in staging.glob("plugins/profile/*/*.xplane.pb")})
    if not runs:
        raise CaptureError("TensorFlow's profiler saved no file: there is no profile of this run.")
    return runs[-1]


def _publish(run: Path, staging: Path, logdir: Path) -> Path:
    """Move the run folder from the staging folder to its place in the logdir, and return it."""
    target = logdir / "plugins" / "profile"
    try:
        target.mkdir(parents=True, exist_ok=True)
        return _moved(run, target)
    except OSError as error:
        kept = staging.rename(staging.with_name(f"kept{staging.name}"))  # else it would go with the staging folder
        raise CaptureError(
            f"The profile could not be saved in {target}: {error.strerror or error}. It is kept in {kept}: open it "
            "with tfprof_nb.load()."
        ) from error


def _moved(run: Path, target: Path) -> Path:
    """Move ``run`` into ``target`` under its own name, with a number behind it where that is taken."""
    for number in itertools.count(1):
        place = target / (run.name if number == 1 else f"{run.name}_{number:03d}")
        if not place.exists():
            break
    return run.rename(place)
