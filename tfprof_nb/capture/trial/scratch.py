"""A scratch folder as working directory: it looks like the user's, and what a cell writes goes there.

Python tells of the files that it opens, moves and removes, of connections and of programs that it starts: what would
reach beyond the folder is refused. What TensorFlow's and HDF5's own code writes to absolute paths is not seen.
"""

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

_MAX_FILE_BYTES, _MAX_BYTES, _MAX_FILES = 32 << 20, 256 << 20, 2_000
_LEFT_OUT = ("tfprof_logs", "node_modules", "__pycache__")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {  # events of Python's audit hooks, with the numbers of the arguments that are paths
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.truncate": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "shutil.rmtree": (0,),
    "shutil.move": (0, 1),
}
_NETWORK = ("socket.connect", "socket.sendto", "socket.bind", "urllib.Request")
_PROGRAMS = ("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork", "os.exec", "pty.spawn")


class Refused(BaseException):
    """The cell does what a trial must not do; no ``except Exception`` of the cell hides it."""


class _Guard:
    """The only hook of this process: Python cannot remove one."""

    def __init__(self) -> None:
        self.folder, self.thread, self.refused, self._is_added = "", 0, "", False

    def add(self) -> None:
        if not self._is_added:
            sys.addaudithook(self._hear)
            self._is_added = True

    def _hear(self, event: str, arguments: Any) -> None:
        if not self.folder or threading.get_ident() != self.thread:
            return
        if event == "open":
            path, mode, flags = arguments
            writes = (
                any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool((flags or 0) & _WRITING)
            )
            if writes:
                self._check("writes", path)
        elif event in _CHANGES:
            for number in _CHANGES[event]:
                self._check("changes", arguments[number])
        elif event in _NETWORK:
            self._refuse("The cell uses the network, and what it does there cannot be repeated")
        elif event in _PROGRAMS:
            self._refuse("The cell starts other programs, and what they do cannot be put back")

    def _check(self, does: str, path: Any) -> None:
        if not isinstance(path, str | bytes | os.PathLike):  # the number of an open file
            return
        real = os.path.realpath(os.fsdecode(path))
        if real != self.folder and not real.startswith((self.folder + os.sep, "/dev/")):
            self._refuse(f"The cell {does} {real}, which is not in its working folder")

    def _refuse(self, why: str) -> None:
        self.refused = why
        raise Refused(why)


_guard = _Guard()


class Scratch:
    """A folder with what the working directory holds; ``linked`` names what of it is linked because it is large."""

    def __init__(self) -> None:
        self.linked: list[str] = []
        self._source = Path.cwd()
        self._folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="tfprof_nb-trial-")))
        self._work, self._temporary = self._folder / "work", self._folder / "tmp"
        self._listed: list[tuple[object, ...]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Run the block in the folder as it was at first, and refuse what would reach beyond it."""
        self._renew()
        temporary = tempfile.tempdir
        _guard.add()
        os.chdir(self._work)
        tempfile.tempdir = str(self._temporary)
        _guard.folder, _guard.thread, _guard.refused = str(self._folder), threading.get_ident(), ""
        try:
            yield
        finally:
            _guard.folder = ""
            tempfile.tempdir = temporary
            os.chdir(self._source)

    def _renew(self) -> None:
        """Make the copies anew if a run changed them."""
        if self._listed and _listed(self._work) == self._listed:
            return
        shutil.rmtree(self._work, ignore_errors=True)
        self.linked.clear()
        _mirror(self._source, self._work, _Room(), self.linked)
        self._temporary.mkdir(exist_ok=True)
        self._listed = _listed(self._work)


def _listed(folder: Path) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = [(folder,)]
    for path, folders, files in os.walk(folder):
        for name in (*folders, *files):
            stat = os.lstat(os.path.join(path, name))  # noqa: PTH118 - many times
            found.append((path, name, stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return sorted(found, key=str)


def refusal() -> str:
    """Say what the last run was refused, also where the cell hid it; empty if nothing was."""
    return _guard.refused


class _Room:
    def __init__(self) -> None:
        self.files, self.bytes = _MAX_FILES, _MAX_BYTES


def _mirror(source: Path, target: Path, room: _Room, linked: list[str]) -> None:
    """Copy a folder; link what is too large."""
    target.mkdir()
    with suppress(OSError), os.scandir(source) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.startswith(".") or entry.name in _LEFT_OUT:
                continue
            room.files -= 1
            if entry.is_dir() and not entry.is_symlink() and room.files > 0 and _count(entry.path) < room.files:
                _mirror(Path(entry.path), target / entry.name, room, linked)
            elif entry.is_file() and (size := entry.stat().st_size) <= min(_MAX_FILE_BYTES, room.bytes):
                room.bytes -= size
                shutil.copy2(entry.path, target / entry.name)
            elif entry.is_file() or entry.is_dir():
                linked.append(entry.name)
                (target / entry.name).symlink_to(os.path.realpath(entry.path), entry.is_dir())


def _count(folder: str) -> int:
    """Count the files in a folder, up to the most that are copied."""
    count = 0
    for _, folders, files in os.walk(folder):
        count += len(folders) + len(files)
        if count > _MAX_FILES:
            break
    return count
