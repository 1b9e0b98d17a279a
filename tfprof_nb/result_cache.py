"""Results of profiles that were opened before, kept on disk: the second opening computes nothing.

`docs/how-it-works.md` tells users. A run has a folder below ``<cache>/results``, named by where its files lie, and in
it a file per result. Each is good only for the content of the run's files from which it was computed, for this version
of the package and of its libraries. Damaged ones are ignored, and made anew. Nothing here is needed: whoever deletes it
loses only time.
"""

import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from tfprof_nb._units import size
from tfprof_nb.formats.packed import UnpackableError, pack, unpack
from tfprof_nb.formats.unfinished import maker, remove_abandoned
from tfprof_nb.storage import cache_folder

T = TypeVar("T")

OFF = "TFPROF_NB_CACHE"  # the environment variable that turns it off: "off", "0", "no"
LEAST_BYTES = 1 << 20  # smaller runs are read anew as quickly
MOST_BYTES, MOST_RESULT_BYTES, MOST_RUNS = 512 << 20, 64 << 20, 200
_PART = ".part-"
_CHECKED = ("DataFrame", "dict", "list")  # types of a result's fields


class ResultCache:
    """What is kept of one run; ``get`` finds nothing where the cache is off, or the run is small.

    Parameters
    ----------
    files
        The files that results depend on, with those that may lie beside the profiles: also absent ones.
    about
        What else results depend on, as text.
    wanted
        Whether to keep anything.
    """

    def __init__(self, files: Sequence[Path], about: str, *, wanted: bool = True) -> None:
        self.failure = ""
        self._files = [file.absolute() for file in files]
        self._seen = [_stat(file) for file in self._files]
        large = sum(seen[0] for seen in self._seen if seen) >= LEAST_BYTES
        self._on = wanted and large and os.environ.get(OFF, "").lower() not in ("off", "0", "no", "false")
        if not self._on:
            return
        key = json.dumps([_schema(), about, *map(str, self._files)]).encode("utf-8", "surrogatepass")
        self.folder = cache_folder() / "results" / hashlib.sha256(key).hexdigest()[:32]
        self._content = ""
        # The content's hash is needed at once only if there may be results to find.
        self._hashing = threading.Thread(target=self._hash, daemon=True)
        self._hashing.start()

    def get(self, name: str, of: type[T]) -> T | None:
        """Return a result, or None if there is no good one."""
        if not self._on or not (file := self.folder / name).is_file():
            return None
        with suppress(OSError, UnpackableError, TypeError):
            if file.stat().st_size > MOST_RESULT_BYTES:
                return None
            content, values = unpack(file.read_bytes())
            if content == self._content_now():
                with suppress(OSError):
                    os.utime(self.folder)  # the oldest leave first
                return _made(of, values)
        return None

    def put(self, name: str, result: T) -> T:
        """Keep a result, if that can be done, and return it."""
        if self._on and not self.failure and (content := self._content_now()):
            with suppress(UnpackableError):
                data = pack((content, _values(result)))
                if len(data) <= MOST_RESULT_BYTES:
                    self._write(name, data)
        return result

    def changed(self) -> list[Path]:
        """Return the files that are gone or were written since the run was opened."""
        pairs = zip(self._files, self._seen, strict=True)
        return [file for file, seen in pairs if (_stat(file) or ())[:2] != (seen or ())[:2]]

    def off(self) -> None:
        """Find and keep nothing from now on."""
        self._on = False

    @property
    def notes(self) -> list[str]:
        """Why results cannot be kept, where the user can do something about it."""
        if not self.failure:
            return []
        where = f"nothing can be kept in {self.folder.parent} ({self.failure})"
        return [f"This profile opens no faster the next time: {where}. Free some space there, or set {OFF}=off."]

    def _write(self, name: str, data: bytes) -> None:
        try:
            if not self.folder.is_dir():
                self.folder.parent.mkdir(parents=True, exist_ok=True)
                remove_abandoned(self.folder.parent, _PART)
                _make_room(self.folder.parent)
                self.folder.mkdir(mode=0o700, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=_PART + maker(), dir=self.folder.parent) as parts:
                part = Path(parts) / name
                part.write_bytes(data)
                part.replace(self.folder / name)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            self.failure = f"{error.strerror}, for {size(len(data))}" if full else ""
            self._on = full

    def _hash(self) -> None:
        digest = hashlib.sha256()
        for file, seen in zip(self._files, self._seen, strict=True):
            digest.update(repr(seen and seen[0]).encode())
            if seen:
                try:
                    with file.open("rb") as stream:
                        digest.update(hashlib.file_digest(stream, "sha256").digest())
                except OSError:
                    return
        self._content = digest.hexdigest()

    def _content_now(self) -> str:
        """Return the hash of the files' content; empty if a file changed since the run was opened."""
        self._hashing.join()
        return self._content if [_stat(file) for file in self._files] == self._seen else ""


def _stat(file: Path) -> tuple[int, int, int, int] | None:
    try:
        found = file.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):  # a pipe or a device may never end
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


@cache
def _schema() -> str:
    """Return what tells this code and its libraries from others, which may compute other results."""
    package = Path(__file__).parent
    code = sorted((str(file.relative_to(package)), *(_stat(file) or ())[:2]) for file in package.rglob("*.py"))
    libraries = [version(name) for name in ("numpy", "pandas")]
    return hashlib.sha256(json.dumps([code, libraries]).encode()).hexdigest()


def _values(result: Any) -> Any:
    if not is_dataclass(result):
        return result
    return {each.name: getattr(result, each.name) for each in fields(result) if each.init}


def _made(of: type[T], values: Any) -> T | None:
    """Return the result of these values; None if they are no values of this type."""
    if not is_dataclass(of):
        return values if isinstance(values, of) else None
    kinds = {each.name: _kind(each.type) for each in fields(of) if each.init}
    if not isinstance(values, dict) or values.keys() != kinds.keys():
        return None
    if any(kind in _CHECKED and type(values[name]).__name__ != kind for name, kind in kinds.items()):
        return None
    return of(**values)


def _kind(annotation: Any) -> str:
    """Return the name of the type that a field has; in some modules annotations are texts."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return text.partition("[")[0].rpartition(".")[2]


def _make_room(folder: Path) -> None:
    """Delete the runs that were not opened for longest until the others are below the limits."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                used = sum(file.stat().st_size for file in os.scandir(entry.path))
                found.append((entry.stat().st_mtime, used, entry.path))
    found.sort(reverse=True)
    kept = 0
    for place, (_, used, path) in enumerate(found):
        kept += used
        if kept > MOST_BYTES or place >= MOST_RUNS - 1:
            shutil.rmtree(path, ignore_errors=True)
