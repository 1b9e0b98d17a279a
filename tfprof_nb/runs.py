"""Find profiling runs on disk: ``<logdir>/**/plugins/profile/<run>/<host>.xplane.pb``.

A run folder may hold Chrome traces instead (``<host>.trace.json.gz``, which TensorFlow also wrote until 2.11), the
RunMetadata of a session's runs (``<host>.<number>.run_metadata.pb``, see `capture.sessions`), or TensorFlow 2.0's
``local.trace``.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import compress
from os import PathLike
from pathlib import Path, PurePosixPath
from stat import S_ISDIR, S_ISREG
from typing import Any, TypeVar

from tfprof_nb._errors import ProfileNotFoundError, TfprofError
from tfprof_nb._units import count, printable
from tfprof_nb.formats.files import (
    CHROME_TRACES,
    LOCAL_TRACE,
    RUN_METADATA,
    RUN_TIMES,
    RUNS_FOLDER,
    SESSION_GRAPH,
    SIDECAR,
    STAGING_PREFIX,
    WARM_UP,
    XSPACES,
    host_key,
    sidecar_of,
)
from tfprof_nb.formats.label import read_label
from tfprof_nb.storage import StoredFile, is_url, listed

F = TypeVar("F")

_RUNS = f"{RUNS_FOLDER}/*"
_HEAD_BYTES = 1 << 16
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
    notes
        What was left out because it cannot be read, and why.
    title, verdict, steps
        What the user called the capture, and what it showed, if it was shown.
    stored
        Where the files come from, if that is a URL: ``files`` are their copies, which exist once the run was opened.

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
    notes: tuple[str, ...] = ()
    title: str = ""
    verdict: str = ""
    steps: int | None = None
    stored: tuple[StoredFile, ...] = ()

    def without(self, left_out: Mapping[int, str]) -> Run:
        """Return the run without some of its files, given by their places, and with a note on each of them."""
        kept = [place not in left_out for place in range(len(self.files))]
        files, parts = tuple(compress(self.files, kept)), tuple(compress(self.parts, kept))
        hosts = self.hosts if self.parts else tuple(compress(self.hosts, kept))
        return replace(self, hosts=hosts, files=files, parts=parts, notes=(*self.notes, *left_out.values()))

    def only(self, *hosts: str) -> Run:
        """Return the run with only some of its hosts."""
        if self.parts:
            return self
        files = tuple(self.files[self.hosts.index(host)] for host in hosts)
        own = {one for file in files for one in (file, sidecar_of(file), file.with_name(SESSION_GRAPH + SIDECAR))}
        stored = tuple(one for one in self.stored if one.copy in own)
        return replace(self, hosts=hosts, files=files, stored=stored)

    @property
    def place(self) -> Path | str:
        """What `load` opens it by: its folder, or a URL."""
        if not self.stored:
            return self.path
        url = self.stored[0].url
        return url if len(self.files) == 1 else url.rpartition("/")[0]

    @property
    def label(self) -> str:
        """The run in a line: its name, time, verdict and steps."""
        when = f"{self.time:%Y-%m-%d %H:%M:%S}"
        hosts = "" if self.title else self._hosts
        return printable(_joined(self.title or self.name, when, self.verdict, self._steps, hosts))

    @property
    def found(self) -> str:
        """What the user called the capture, and what it showed; empty if neither is known."""
        return printable(_joined(self.title, self.verdict, self._steps))

    @property
    def _steps(self) -> str:
        return f"{count(self.steps)} step{'' if self.steps == 1 else 's'}" if self.steps else ""

    @property
    def _hosts(self) -> str:
        return self.hosts[0] if len(self.hosts) == 1 else f"{len(self.hosts)} hosts"

    def __str__(self) -> str:
        return printable(f"{self.name} ({self._hosts}, {self.time:%Y-%m-%d %H:%M:%S}) in {self.place}")


def _joined(*texts: str) -> str:
    return " · ".join(filter(None, texts))


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
    if is_url(logdir):
        return _stored_runs(str(logdir))
    existing = _existing(logdir)
    runs = [run for folder in _folders(existing) if (run := _run_in(folder))]
    return sorted(runs, key=_age) if runs else _timelines_in(existing)


def _timelines_in(folder: Path) -> list[Run]:
    """Return the timelines of TensorFlow 1 in a folder, if any, as parts of one run in order of their names."""
    try:
        files = sorted((file for file in folder.glob("*.json") if _is_timeline(file)), key=_natural_order)
    except OSError:
        return []
    if not files:
        return []
    name = folder.resolve().name
    return [replace(_one_after_another([_of_files([file]) for file in files]), name=name, hosts=(name,))]


def _is_timeline(file: Path) -> bool:
    """Whether a file begins as TensorFlow 1's timelines do, which name a process for each device."""
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError:
        return False
    return b'"traceEvents"' in head and b' Compute"' in head


def _natural_order(file: Path) -> list[tuple[bool, int, str]]:
    """Order names with numbers by the numbers' values."""
    parts = re.split(r"(\d+)", file.name)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def _stored_runs(url: str) -> list[Run]:
    """Return the runs at a URL, newest last; a file that is no folder is a run by itself."""
    files, is_file = listed(url)
    if is_file:
        return [_stored_run(files[:1], files)]
    top = min((file.url.rpartition("/")[0] for file in files), key=len, default="")
    folders = sorted({file.url.rpartition("/")[0] for file in files})
    runs = []
    for folder in folders:
        here = [file for file in files if file.url.rpartition("/")[0] == folder]
        in_run = PurePosixPath(folder).match(_RUNS) and STAGING_PREFIX not in folder
        profiles = _profiles(here, lambda file: file.copy.name) if in_run or folder == top else []
        if profiles:
            runs.append(_stored_run(profiles, here))
    return sorted(runs, key=_age)


def _stored_run(profiles: list[StoredFile], beside: list[StoredFile]) -> Run:
    copies = [file.copy for file in profiles]
    folder = profiles[0].url.rpartition("/")[0]
    in_run = PurePosixPath(folder).match(_RUNS)
    run = _run(copies, copies[0].parent.name if in_run else host_key(copies[0]), copies[0].parent)
    sidecars = {sidecar_of(copy) for copy in copies} | {copies[0].with_name(SESSION_GRAPH + SIDECAR)}
    stored = [*profiles, *(file for file in beside if file.copy in sidecars)]
    written = datetime.fromtimestamp(max(file.written for file in profiles)).astimezone()
    return replace(run, time=_time_in(run.name) or written, stored=tuple(stored))


def resolve(path: str | PathLike[str] | Iterable[str | PathLike[str]] | Run, *, as_runs: bool = False) -> Run:
    """Return the run that a path stands for.

    Parameters
    ----------
    path
        A logdir (gives its newest run), a run folder, a file, or several files, the hosts of one run; or the run.
    as_runs
        Whether several paths are runs, to be shown one after another; a logdir then stands for all of its runs.

    Raises
    ------
    ProfileNotFoundError
        Nothing is at the path, it is no path, or the folder has no run.
    TfprofError
        With ``as_runs``, if a run has several hosts.
    """
    if isinstance(path, Run):
        return path
    paths = _listed(path)
    if not paths:
        raise ProfileNotFoundError("No path was given. Give a logdir, a run's folder, a file or a list of files.")
    if as_runs:
        return _one_after_another([run for each in paths for run in _all_runs(each)])
    if not isinstance(path, str | PathLike):
        return _of_files_anywhere(paths)
    found = _all_runs(path)
    return replace(found[-1], newest_of=len(found))


def _listed(path: Any) -> list[str | PathLike[str]]:
    """Return the paths that a user gave as one or several."""
    if isinstance(path, str | PathLike):
        return [path] if str(path) else []
    try:
        return [] if path is None else list(path)
    except TypeError:
        raise ProfileNotFoundError(
            f"{path!r} is no path. Give a logdir, a run's folder, a file or a list of files."
        ) from None


def _folders(logdir: Path) -> set[Path]:
    """Return the folders that can be runs: the logdir itself, and those below it."""
    try:
        return {logdir, *(found for found in logdir.rglob(_RUNS) if found.is_dir() and not _is_staged(found, logdir))}
    except OSError as error:
        raise ProfileNotFoundError(f"The folder {logdir} cannot be read ({error.strerror}).") from None


def _is_staged(run: Path, logdir: Path) -> bool:
    return any(part.startswith(STAGING_PREFIX) for part in run.relative_to(logdir).parts)


def _existing(path: str | PathLike[str]) -> Path:
    try:
        existing = Path(os.path.expandvars(path)).expanduser()
        status = existing.stat()
    except FileNotFoundError:
        raise ProfileNotFoundError(
            f"There is no file or folder {existing} (working folder: {_working_folder()}). Check the path."
        ) from None
    except (OSError, RuntimeError, TypeError, ValueError) as error:  # too long, of an unknown user, no text, with \0
        raise ProfileNotFoundError(f"{path!r} cannot be opened ({error}). Check the path.") from None
    if not (S_ISDIR(status.st_mode) or S_ISREG(status.st_mode)):
        raise ProfileNotFoundError(f"{existing} is neither a file nor a folder. Give the path of a profile.")
    return existing


def _working_folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return "removed"


def _of_files_anywhere(paths: list[str | PathLike[str]]) -> Run:
    at_urls = {path: _stored_runs(str(path))[-1] for path in paths if is_url(path)}
    run = _of_files([at_urls[path].files[0] if path in at_urls else _existing(path) for path in paths])
    stored = [file for one in at_urls.values() for file in one.stored]
    return replace(run, stored=tuple(stored))


def _all_runs(path: str | PathLike[str]) -> list[Run]:
    if is_url(path):
        runs = _stored_runs(str(path))
        if not runs:
            raise ProfileNotFoundError(f"There is no profile below {path}: no {_RUNS}/*.xplane.pb.")
        return runs
    existing = _existing(path)
    if existing.is_file():
        return [_of_files([existing])]
    runs = find_runs(existing)
    if not runs:
        raise ProfileNotFoundError(
            f"There is no profile in {existing}: neither *.xplane.pb in the folder itself nor {_RUNS}/*.xplane.pb "
            "anywhere below it, nor timelines of TensorFlow 1 (*.json). Give the log folder that the profile was "
            "written to, or capture a profile first. For a file of another kind, give the path of the file itself."
        )
    return [*runs[:-1], replace(runs[-1], notes=(*runs[-1].notes, *_newer_without_profile(existing, runs[-1])))]


def _newer_without_profile(logdir: Path, newest: Run) -> list[str]:
    """Return a note on each run folder that is newer by its name than the newest run, but has no profile."""
    times = {folder: _time_in(folder.name) for folder in _folders(logdir) - {logdir} if not _run_in(folder)}
    return [
        f"The newer run {folder.name} was left out: it has no profile. Its capture did not finish."
        for folder, time in sorted(times.items())
        if time is not None and time > newest.time
    ]


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
    stored = tuple(file for run in runs for file in run.stored)
    notes = tuple(note for run in runs for note in run.notes)
    return Run(
        name,
        runs[0].path,
        (hosts[0] if len(hosts) == 1 else name,),
        files,
        runs[-1].time,
        parts,
        notes=notes,
        stored=stored,
    )


def _run_in(folder: Path) -> Run | None:
    """Return the run in a folder, made of profiles of one kind: the most detailed kind that is there."""
    try:
        files = sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError:
        return None
    profiles = _profiles(files, lambda file: file.name, _is_file)
    readable = [file for file in profiles if _is_file(file)]
    if not readable:
        return None
    notes = [f"{file.name} was left out: it is no file." for file in profiles if file not in readable]
    label = read_label(folder)
    return replace(
        _run(readable, folder.name, folder),
        notes=tuple(notes),
        title=printable(label.get("name", "")),
        verdict=label.get("verdict", ""),
        steps=label.get("steps"),
    )


def _profiles(files: list[F], name: Callable[[F], str], counts: Callable[[F], bool] = lambda _: True) -> list[F]:
    """Return the profiles of the most detailed kind of which there is one that counts."""
    endings = (XSPACES, RUN_METADATA, CHROME_TRACES, LOCAL_TRACE)
    kinds = ([file for file in files if name(file).endswith(kind)] for kind in endings)
    return next((found for found in kinds if any(map(counts, found))), [])


def _is_file(path: Path) -> bool:
    """Whether a path leads to a file that the system lets us look at."""
    try:
        return path.is_file()
    except OSError:
        return False


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
        host = keys[0].removesuffix(WARM_UP)
        return Run(name, folder, (host.rpartition(".")[0] or host,), tuple(files), _time(name, files), tuple(hosts))
    return Run(name, folder, tuple(hosts), tuple(files), _time(name, files))


def _time(name: str, files: list[Path]) -> datetime:
    """Return when a run was captured; its name may have a number after the time (`capture.run_folder`)."""
    return _time_in(name) or datetime.fromtimestamp(max(map(_written, files))).astimezone()


def _time_in(name: str) -> datetime | None:
    for form in RUN_TIMES:
        with suppress(ValueError, OverflowError):
            return datetime.strptime(name[:_TIME_CHARACTERS], form).astimezone()
    return None


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:  # it is gone by now
        return 0.0


def _age(run: Run) -> tuple[datetime, str, Path]:
    return run.time, run.name, run.path
