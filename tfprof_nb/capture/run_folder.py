"""The run folder of a capture: written in a staging folder, moved to its place when it is complete."""

import errno
import glob
import itertools
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tfprof_nb._errors import CaptureError
from tfprof_nb.formats.files import RUNS_FOLDER, SESSION_GRAPH, SIDECAR, STAGING_PREFIX, sidecar_of
from tfprof_nb.formats.label import copy_label
from tfprof_nb.formats.unfinished import maker, remove_abandoned


def staging_folder(logdir: Path) -> Path:
    """Make a folder inside ``logdir`` for TensorFlow to write to, after checking that files can be written there.

    TensorFlow itself finds out only at the end, when the data is lost; and two captures within one second would write
    to the same folder, so that one overwrites the other.
    """
    __tracebackhide__ = True
    try:
        logdir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=logdir) as probe:
            probe.write(b"writable")
            probe.flush()
        remove_abandoned(logdir, STAGING_PREFIX)
        return Path(tempfile.mkdtemp(prefix=STAGING_PREFIX + maker(), dir=logdir))
    except OSError as error:
        raise CaptureError(
            f"Profiles cannot be written to {logdir}: {error.strerror or error}. "
            "Choose another folder with logdir=... (in the magic: --out DIR)."
        ) from None


def publish(run: Path, staging: Path, logdir: Path) -> Path:
    """Move the run folder from the staging folder to its place in the logdir, and return it."""
    target = logdir / RUNS_FOLDER
    try:
        target.mkdir(parents=True, exist_ok=True)
        return _moved(run, target)
    except OSError as error:
        kept = staging.rename(staging.with_name(f"kept{staging.name}"))  # else it is removed with the staging folder
        raise CaptureError(
            f"The profile could not be saved in {target}: {error.strerror or error}. It is kept in {kept}: open it "
            "with tfprof_nb.load()."
        ) from error


def copied(files: Iterable[Path], logdir: Path, name: str) -> Path:
    """Copy profiles and what was recorded beside them to a run folder of this name, and return it."""
    staging = staging_folder(logdir)
    try:
        run = staging / name
        run.mkdir()
        sources = list(files)
        for file in sources:
            for part in (file, sidecar_of(file), file.with_name(SESSION_GRAPH + SIDECAR)):
                if part.is_file():
                    shutil.copy2(part, run)
        copy_label(sources[0].parent, run)
        return publish(run, staging, logdir)
    except OSError as error:
        raise CaptureError(f"The profile cannot be copied to {logdir}: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _moved(run: Path, target: Path) -> Path:
    """Move ``run`` into ``target`` under its own name, followed by a number if there are runs of this name."""
    taken = [_number(other.name, run.name) for other in target.glob(f"{glob.escape(run.name)}*")]
    for number in itertools.count(max(taken, default=0) + 1):
        try:
            return run.rename(target / (run.name if number == 1 else f"{run.name}_{number:03d}"))
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise  # else another process took the name just now
    raise AssertionError


def _number(name: str, first: str) -> int:
    """Return which run of those that are called ``first`` this is; 0 if none."""
    rest = name.removeprefix(first)
    return 1 if not rest else int(rest[1:]) if rest[0] == "_" and rest[1:].isdecimal() else 0
