"""Which runs a notebook keeps: the newest that it made itself. What others wrote is never removed."""

import os
import zlib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tfprof_nb.formats.files import RUNS_FOLDER
from tfprof_nb.formats.label import LABEL, Label, read_label, write_label
from tfprof_nb.formats.unfinished import this_process


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
