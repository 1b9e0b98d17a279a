"""Find profiling runs on disk: ``<logdir>/**/plugins/profile/<run>/<host>.xplane.pb``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from os import PathLike
from pathlib import Path

from ._errors import ProfileNotFoundError

SUFFIXES = (".xplane.pb", ".xplane.pb.gz")
SIDECAR_VERSION = 1
_SIDECAR = ".tfprof.json.gz"
_RUNS = "plugins/profile/*"
_TIME_CHARACTERS = len("2026_11_21_14_34_40")


@dataclass(frozen=True)
class Run:
    """One run: the profiles that its hosts wrote at one time.

    Attributes
    ----------
    name
        The run folder's name, mostly the time of the capture; for a file outside of a run folder its host's key.
    path
        The run folder, or the folder of the first file.
    hosts, files
        Each host's key, the file's name without its suffix, and its file. A key that several files share is preceded
        by the file's folder.
    time
        When it was captured: as the name says, or else when its newest file was written.
    """

    name: str
    path: Path
    hosts: tuple[str, ...]
    files: tuple[Path, ...]
    time: datetime

    def only(self, host: str) -> Run:
        """Return the run with one of its hosts."""
        file = self.files[self.hosts.index(host)]
        return replace(self, hosts=(host,), files=(file,))

    def __str__(self) -> str:
        hosts = self.hosts[0] if len(self.hosts) == 1 else f"{len(self.hosts)} hosts"
        return f"{self.name} ({hosts}, {self.time:%Y-%m-%d %H:%M:%S}) in {self.path}"


def find_runs(logdir: str | PathLike[str]) -> list[Run]:
    """Return all runs below a folder, newest last.

    Parameters
    ----------
    logdir
        A folder with runs at any depth, or a run folder itself.

    Raises
    ------
    ProfileNotFoundError
        There is no such folder. In a folder without runs the list is empty.
    """
    folder = _existing(logdir)
    folders = {folder, *(found for found in folder.rglob(_RUNS) if found.is_dir())}
    runs = [_run(files, found.name, found) for found in folders if (files := _profiles(found))]
    return sorted(runs, key=lambda run: (run.time, run.name, run.path))


def resolve(path: str | PathLike[str] | Iterable[str | PathLike[str]]) -> Run:
    """Return the run that a path stands for.

    Parameters
    ----------
    path
        A logdir (gives its newest run), a run folder, a file, or several files, the hosts of one run.

    Raises
    ------
    ProfileNotFoundError
        There is nothing at the path, or no run in the folder.
    """
    if not path:
        raise ProfileNotFoundError("No path was given. Give a logdir, a run's folder, a file or a list of files.")
    if not isinstance(path, str | PathLike):
        return _of_files([_existing(file) for file in path])
    existing = _existing(path)
    if existing.is_file():
        return _of_files([existing])
    runs = find_runs(existing)
    if not runs:
        raise ProfileNotFoundError(
            f"There is no profile in {existing}: neither *.xplane.pb in the folder itself nor {_RUNS}/*.xplane.pb "
            "anywhere below it. Give the log folder that the profile was written to, or capture one first."
        )
    return runs[-1]


def sidecar_of(file: Path) -> Path:
    """Return where the capture writes, beside a host's profile, what the profile cannot hold."""
    return file.with_name(_key(file) + _SIDECAR)


def _existing(path: str | PathLike[str]) -> Path:
    existing = Path(path).expanduser()
    if not existing.exists():
        raise ProfileNotFoundError(f"There is no file or folder {existing} (seen from {Path.cwd()}). Check the path.")
    return existing


def _profiles(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.name.endswith(SUFFIXES)) if folder.is_dir() else []


def _of_files(files: list[Path]) -> Run:
    if not files:
        raise ProfileNotFoundError("The list of files is empty. Give at least one profile.")
    folder = files[0].resolve().parent
    in_run = folder.match(_RUNS) and all(file.resolve().parent == folder for file in files)
    return _run(files, folder.name if in_run else _key(files[0]), files[0].parent)


def _run(files: list[Path], name: str, folder: Path) -> Run:
    keys = [_key(file) for file in files]
    shared = Counter(keys)
    hosts = [f"{file.parent.name}/{key}" if shared[key] > 1 else key for file, key in zip(files, keys, strict=True)]
    return Run(name, folder, tuple(hosts), tuple(files), _time(name, files))


def _key(file: Path) -> str:
    """Return the host's key: the file's name without the suffix of its kind."""
    for suffix in (*SUFFIXES[::-1], file.suffix):
        if suffix and file.name.endswith(suffix):
            return file.name.removesuffix(suffix)
    return file.name


def _time(name: str, files: list[Path]) -> datetime:
    """When a run was captured; a number behind its time (`capture.recording`) tells runs of one second apart."""
    try:
        return datetime.strptime(name[:_TIME_CHARACTERS], "%Y_%m_%d_%H_%M_%S").astimezone()
    except ValueError:
        return datetime.fromtimestamp(max(file.stat().st_mtime for file in files)).astimezone()
