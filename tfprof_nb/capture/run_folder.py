"""The run folder of a capture: written in a staging folder, moved to its place when it is complete.

A notebook keeps the newest runs that it made itself; what others wrote is never removed.
"""

import errno
import glob
import itertools
import os
import shutil
import tempfile
import zlib
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tfprof_nb._errors import CaptureError
from tfprof_nb.formats.files import RUNS_FOLDER, SESSION_GRAPH, SIDECAR, STAGING_PREFIX, sidecar_of
from tfprof_nb.formats.label import LABEL, Label, copy_label, read_label, write_label
from tfprof_nb.formats.unfinished import maker, remove_abandoned, this_process


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


@dataclass(frozen=True)
class Kept:
    """What a log folder holds: bytes of one run, bytes of all runs, and how many these are."""

    run_bytes: int
    all_bytes: int
    runs: int


def label_run(run: Path, name: str | None) -> None:
    """Mark a run folder as ours, with the name of its profile; without the mark it is never removed."""
    label = Label(notebook=_notebook(), files=[file.name for file in run.iterdir()])
    with suppress(OSError):
        write_label(run, label | Label(name=name) if name else label)


def describe_run(run: Path, verdict: str, steps: int) -> None:
    """Add to the label of a run of ours what it showed."""
    if label := read_label(run):
        with suppress(OSError):
            write_label(run, label | Label(verdict=verdict, steps=steps))


def keep_newest(run: Path, count: int, in_use: Collection[Path]) -> Kept:
    """Remove the oldest runs of this notebook beside a run, but for the newest ``count`` and those in use."""
    folder = run.parent
    ours = [one for one in _runs(folder) if read_label(one).get("notebook") == _notebook()]
    used = {one.resolve() for one in (run, *in_use)}
    for old in ours[: max(0, len(ours) - count)]:
        if old.resolve() not in used:
            _remove(old)
    left = _runs(folder)
    return Kept(_size(run), sum(map(_size, left)), len(left))


def runs_folders(logdir: Path, in_use: Collection[Path]) -> set[Path]:
    """Return the folders of runs in a log folder, and beside those runs in use that this notebook made."""
    ours = {run.parent.resolve() for run in in_use if read_label(run).get("notebook") == _notebook()}
    there = {(logdir / RUNS_FOLDER).resolve()}
    return {folder for folder in there | ours if folder.is_dir()}


def logdir_of(run: Path) -> Path:
    """Return the log folder of a run, relative to the working folder if it is inside."""
    return shown_path(run.parents[len(Path(RUNS_FOLDER).parts)])


def shown_path(folder: Path) -> Path:
    """Return a folder's path, relative to the working folder if it is inside."""
    folder = folder.resolve()
    with suppress(ValueError, OSError):
        return folder.relative_to(Path.cwd())
    return folder


def _runs(folder: Path) -> list[Path]:
    """Return the run folders, oldest first: they are named after their time."""
    return sorted(run for run in folder.iterdir() if run.is_dir() and not run.is_symlink())


def _remove(run: Path) -> None:
    """Remove a run folder, unless it holds anything that we did not write."""
    ours = {LABEL, *read_label(run).get("files", ())}
    with suppress(OSError):
        files = list(run.iterdir())
        if all(file.name in ours and file.is_file() for file in files):
            for file in files:
                file.unlink()
            run.rmdir()


def _size(run: Path) -> int:
    total = 0
    with suppress(OSError):
        total = sum(file.stat().st_size for file in run.iterdir() if file.is_file())
    return total


def _notebook() -> str:
    """Return a number for this notebook, or for this process where nothing tells the notebook."""
    return f"{zlib.crc32((os.environ.get('JPY_SESSION_NAME') or this_process()).encode()):08x}"
