"""Find profiling runs on disk: ``<logdir>/**/plugins/profile/<run>/<host>.xplane.pb``.

A run folder may hold Chrome traces instead (``<host>.trace.json.gz``, which TensorFlow also wrote until 2.11), or the
RunMetadata of a session's runs (``<host>.<number>.run_metadata.pb``, see `capture.sessions`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from os import PathLike
from pathlib import Path

from tfprof_nb._errors import ProfileNotFoundError, TfprofError
from tfprof_nb._units import printable
from tfprof_nb.formats.files import (
    CHROME_TRACES,
    RUN_METADATA,
    RUN_TIME,
    RUNS_FOLDER,
    STAGING_PREFIX,
    XSPACES,
    host_key,
)

_RUNS = f"{RUNS_FOLDER}/*"
_TIME_CHARACTERS = len("2026_11_21_14_34_40")


@dataclass(frozen=True)
class Run:
    """One run: the profiles that its hosts wrote at the same time.

    Attributes
    ----------
    name
        The run folder's name, usually the time of the capture; for a file outside a run folder, its host's key.
    path
        The run folder, or the folder of the first file.
    hosts, files
        Each host's key, which is the file's name without its suffix, and each host's file. If several files have the
        same key, it is preceded by the file's folder.
    time
        When it was captured: the time in the name, or else the time when the newest file was written.
    parts
        The names of the parts, if the files are not hosts but runs of one host, shown one after another.
    newest_of
        How many runs a logdir has, if this is the newest of them.

    Examples
    --------
    >>> import tfprof_nb as tp
    >>> with tp.profile(logdir="build/logs"):
    ...     pass
    >>> run = tp.find_runs("build/logs")[-1]
    >>> tp.load(run.path).files == run.files
    True
    """

    name: str
    path: Path
    hosts: tuple[str, ...]
    files: tuple[Path, ...]
    time: datetime
    parts: tuple[str, ...] = ()
    newest_of: int = 1

    def only(self, host: str) -> Run:
        """Return the run with only one of its hosts."""
        if self.parts:
            return self
        file = self.files[self.hosts.index(host)]
        return replace(self, hosts=(host,), files=(file,))

    def __str__(self) -> str:
        hosts = self.hosts[0] if len(self.hosts) == 1 else f"{len(self.hosts)} hosts"
        return printable(f"{self.name} ({hosts}, {self.time:%Y-%m-%d %H:%M:%S}) in {self.path}")


def find_runs(logdir: str | PathLike[str]) -> list[Run]:
    """Return all runs below a folder, newest last.

    Parameters
    ----------
    logdir
        A folder with runs at any depth, or a run folder itself.

    Raises
    ------
    ProfileNotFoundError
        The folder does not exist. For a folder without runs the list is empty.
    """
    folder = _existing(logdir)
    folders = {folder, *(found for found in folder.rglob(_RUNS) if found.is_dir() and not _is_staged(found, folder))}
    runs = [_run(files, found.name, found) for found in folders if (files := _profiles(found))]
    return sorted(runs, key=lambda run: (run.time, run.name, run.path))


def resolve(path: str | PathLike[str] | Iterable[str | PathLike[str]], *, as_runs: bool = False) -> Run:
    """Return the run that a path stands for.

    Parameters
    ----------
    path
        A logdir (gives its newest run), a run folder, a file, or several files, the hosts of one run.
    as_runs
        Whether several paths are runs, to be shown one after another; a logdir then stands for all of its runs.

    Raises
    ------
    ProfileNotFoundError
        Nothing is at the path, or the folder has no run.
    TfprofError
        With ``as_runs``, if a run has several hosts.
    """
    if not path:
        raise ProfileNotFoundError("No path was given. Give a logdir, a run's folder, a file or a list of files.")
    if as_runs:
        paths = [path] if isinstance(path, str | PathLike) else path
        return _one_after_another([run for each in paths for run in _all_runs(_existing(each))])
    if not isinstance(path, str | PathLike):
        return _of_files([_existing(file) for file in path])
    found = _all_runs(_existing(path))
    return replace(found[-1], newest_of=len(found))


def _is_staged(run: Path, logdir: Path) -> bool:
    return any(part.startswith(STAGING_PREFIX) for part in run.relative_to(logdir).parts)


def _existing(path: str | PathLike[str]) -> Path:
    existing = Path(path).expanduser()
    if not existing.exists():
        raise ProfileNotFoundError(
            f"There is no file or folder {existing} (working folder: {Path.cwd()}). Check the path."
        )
    return existing


def _all_runs(existing: Path) -> list[Run]:
    if existing.is_file():
        return [_of_files([existing])]
    runs = find_runs(existing)
    if not runs:
        raise ProfileNotFoundError(
            f"There is no profile in {existing}: neither *.xplane.pb in the folder itself nor {_RUNS}/*.xplane.pb "
            "anywhere below it. Give the log folder that the profile was written to, or capture a profile first. For a "
            "file of another kind (*.json, RunMetadata), give the path of the file itself."
        )
    return runs


def _one_after_another(runs: list[Run]) -> Run:
    """Join runs of one host each into one run."""
    for run in runs:
        if len(run.hosts) > 1:
            raise TfprofError(
                f"as_runs=True shows runs of one host one after another, but {run.path} has {len(run.hosts)} hosts. "
                "Give one file per run."
            )
    hosts = list(dict.fromkeys(run.hosts[0] for run in runs))
    more = len(runs) - 1
    name = runs[0].name + (f" and {more} more run{'s' * (more > 1)}" if more else "")
    parts = tuple(part for run in runs for part in run.parts or (run.name,))
    files = tuple(file for run in runs for file in run.files)
    return Run(name, runs[0].path, (hosts[0] if len(hosts) == 1 else name,), files, runs[-1].time, parts)


def _profiles(folder: Path) -> list[Path]:
    """Return a run folder's profiles, all of one kind: the most detailed kind that is there."""
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    kinds = ([file for file in files if file.name.endswith(kind)] for kind in (XSPACES, RUN_METADATA, CHROME_TRACES))
    return next((found for found in kinds if found), [])


def _of_files(files: list[Path]) -> Run:
    if not files:
        raise ProfileNotFoundError("The list of files is empty. Give at least one profile.")
    folder = files[0].resolve().parent
    in_run = folder.match(_RUNS) and all(file.resolve().parent == folder for file in files)
    return _run(files, folder.name if in_run else host_key(files[0]), files[0].parent)


def _run(files: list[Path], name: str, folder: Path) -> Run:
    keys = [host_key(file) for file in files]
    shared = Counter(keys)
    hosts = [f"{file.parent.name}/{key}" if shared[key] > 1 else key for file, key in zip(files, keys, strict=True)]
    if all(file.name.endswith(RUN_METADATA) for file in files):
        return Run(
            name, folder, (keys[0].rpartition(".")[0] or keys[0],), tuple(files), _time(name, files), tuple(hosts)
        )
    return Run(name, folder, tuple(hosts), tuple(files), _time(name, files))


def _time(name: str, files: list[Path]) -> datetime:
    """Return when a run was captured; its name may have a number after the time (`capture.run_folder`)."""
    try:
        return datetime.strptime(name[:_TIME_CHARACTERS], RUN_TIME).astimezone()
    except ValueError:
        return datetime.fromtimestamp(max(file.stat().st_mtime for file in files)).astimezone()
