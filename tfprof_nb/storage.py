"""Files anywhere, by fsspec: what is at a URL, fetched into a cache on this machine, and folders sent there.

A cached file lies beside a note of what it is a copy of. It is used while the storage's mark of the content (an ETag, a
time, a size) is the noted one, and its own content has the noted hash; else it is fetched again.
"""

import errno
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tfprof_nb._errors import MissingDependencyError, ProfileNotFoundError, TfprofError
from tfprof_nb._units import size
from tfprof_nb.formats.files import RUNS_FOLDER
from tfprof_nb.formats.unfinished import maker, remove_abandoned

_URL = re.compile(r"[A-Za-z][\w+.-]+://")
_OF_OUR_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
_FETCHING = ".fetching-"
_NO_NAMES = ("", ".", "..")
_THREADS = 8
_MARKS = ("ETag", "etag", "md5Hash", "content_md5", "checksum", "generation", "version_id")
_TIMES = ("LastModified", "last_modified", "mtime", "updated", "created", "modified")
_CHECKED: set[tuple[Path, str]] = set()  # in this process


@dataclass(frozen=True)
class StoredFile:
    """A file at a URL.

    Attributes
    ----------
    url, bytes, mark
        Where it is, its size, and the storage's mark of its content; empty if there is none.
    written
        When it was written, in seconds since 1970; 0 if that is unknown.
    copy
        Where its copy lies on this machine, once it was fetched.
    """

    url: str
    bytes: int
    mark: str
    written: float
    copy: Path


def is_url(path: Any) -> bool:
    """Whether a path is a URL.

    Examples
    --------
    >>> is_url("gs://bucket/logs"), is_url("logs"), is_url("C:/logs")
    (True, False, False)
    """
    return isinstance(path, str | os.PathLike) and _URL.match(os.fspath(path) or "") is not None


def listed(url: str) -> tuple[list[StoredFile], bool]:
    """List the files below a URL, with whether it is that of a file: this comes first, then those beside it.

    Raises
    ------
    ProfileNotFoundError
        There is nothing at the URL.
    MissingDependencyError
        The package for its protocol is not installed.
    TfprofError
        It cannot be read.
    """
    system, root = _opened(url)
    try:
        web = "http" in str(system.protocol)
        is_file = not root.endswith("/") and (web or system.isfile(root))
        if not is_file:
            found = system.find(root, detail=True)
        else:
            found = {root: system.info(root)}
            with suppress(Exception):  # there may be none, or no way to list
                found |= {path: about for path, about in _beside(system, root) if path != root}
    except FileNotFoundError:
        found = {}
    except Exception as error:  # noqa: BLE001  (each protocol has its own)
        raise TfprofError(
            f"{url} cannot be read ({type(error).__name__}: {error}). Check the address and your rights."
        ) from None
    if not found:
        raise ProfileNotFoundError(f"There is nothing at {url}. Check the address.")
    named = {
        path: about for path, about in found.items() if path.rpartition("/")[2] not in _NO_NAMES and "\0" not in path
    }
    return [_stored(system, path, about) for path, about in named.items()], is_file


def _beside(system: Any, file: str) -> Iterable[tuple[str, dict[str, Any]]]:
    folder, _, name = file.rpartition("/")
    if "http" in str(system.protocol):
        candidates = [f"{folder}/{name.removesuffix('.gz').removesuffix('.xplane.pb')}.tfprof.json.gz"]
        return [(path, system.info(path)) for path in candidates]
    return [(about["name"], about) for about in system.ls(folder, detail=True) if about["type"] == "file"]


def fetch(files: Sequence[StoredFile], show: Callable[[str], None]) -> dict[Path, TfprofError]:
    """Copy files to this machine, several at a time, unless good copies are there; ``show`` gets texts of progress.

    Returns
    -------
    dict
        Why files cannot be fetched, by the places of their copies, where there is none then.

    Raises
    ------
    TfprofError
        This machine has no room for them.
    """
    failed: dict[Path, TfprofError] = {}
    missing = [file for file in files if not _is_good(file)]
    total, done = sum(file.bytes for file in missing), 0
    with ThreadPoolExecutor(_THREADS) as threads:
        running = {threads.submit(_fetch, file): file for file in missing}
        try:
            for one in as_completed(running):
                try:
                    one.result()
                except TfprofError as error:
                    failed[running[one].copy] = error
                done += running[one].bytes
                show(f"fetched {size(done)} of {size(total)}")
        except OSError as error:
            threads.shutdown(wait=False, cancel_futures=True)
            raise _not_copied(running[one].url, error) from None
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    return failed


def send(folder: Path, url: str) -> None:
    """Copy the files of a folder, with those below it, to a URL.

    Raises
    ------
    MissingDependencyError
        The package for its protocol is not installed.
    TfprofError
        They cannot be written there.
    """
    system, root = _opened(url)
    try:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                target = f"{root.rstrip('/')}/{file.relative_to(folder).as_posix()}"
                system.makedirs(target.rpartition("/")[0], exist_ok=True)
                system.put_file(str(file), target)
    except Exception as error:  # noqa: BLE001  (each protocol has its own)
        raise TfprofError(f"Nothing can be written to {url} ({type(error).__name__}: {error}).") from None


def check_url(url: str) -> None:
    """Raise `MissingDependencyError` or `TfprofError` if there is no way to reach a URL."""
    _opened(url)


def _opened(url: str) -> tuple[Any, str]:
    import fsspec

    protocol = url.partition("://")[0]
    try:
        system, root = fsspec.url_to_fs(url)
    except ImportError as error:
        raise MissingDependencyError(f"{protocol}:// needs a package that is not installed: {error}.") from None
    except Exception as error:  # noqa: BLE001  (each protocol has its own)
        raise TfprofError(f"{url} cannot be opened: {error}. Check the address.") from None
    return system, str(root)


def _stored(system: Any, path: str, about: dict[str, Any]) -> StoredFile:
    url, written = system.unstrip_protocol(path), 0.0
    for name in _TIMES:
        value = about.get(name)
        if isinstance(value, datetime):
            written = value.timestamp()
        elif isinstance(value, int | float):
            written = float(value)
    marks = {name: str(about[name]) for name in (*_MARKS, *_TIMES) if about.get(name)}
    mark = json.dumps([about.get("size"), marks], sort_keys=True) if marks else ""
    folder, _, name = url.rpartition("/")
    copies = cache_folder() / hashlib.sha256(folder.encode()).hexdigest()[:24]
    run = folder.rpartition("/")[2]
    if folder.endswith(f"{RUNS_FOLDER}/{run}") and run not in _NO_NAMES:
        copies = copies / RUNS_FOLDER / run
    return StoredFile(url, int(about.get("size") or 0), mark, written, copies / name)


def cache_folder() -> Path:
    """Return the folder for what is kept on this machine and can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tfprof_nb"


def _note(copy: Path) -> Path:
    return copy.with_name(f".{copy.name}.json")


def _is_good(file: StoredFile) -> bool:
    """Whether the copy on this machine has the content that the storage has now."""
    if not file.mark or not (file.copy.is_file() and _note(file.copy).is_file()):
        return False
    try:
        note = json.loads(_note(file.copy).read_text())
        good: bool = note["mark"] == file.mark and (
            (file.copy, note["sha256"]) in _CHECKED or note["sha256"] == _hash(file.copy)
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    if good:
        _CHECKED.add((file.copy, note["sha256"]))
    return good


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch(file: StoredFile) -> None:
    """Fetch one file; another kernel that does the same at the same time does no harm."""
    system, path = _opened(file.url)
    try:
        file.copy.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(file.copy.parent, _FETCHING)
        with tempfile.TemporaryDirectory(prefix=_FETCHING + maker(), dir=file.copy.parent) as folder:
            part, note = Path(folder) / "part", Path(folder) / "note"
            _get(system, path, part, file.url)
            note.write_text(json.dumps({"url": file.url, "mark": file.mark, "sha256": _hash(part)}))
            _note(file.copy).unlink(missing_ok=True)
            part.replace(file.copy)
            note.replace(_note(file.copy))
    except TfprofError:
        for old in (file.copy, _note(file.copy)):
            with suppress(OSError):
                old.unlink()
        raise
    except OSError as error:
        if error.errno in _OF_OUR_DISK:
            raise
        raise _not_copied(file.url, error) from None


def _not_copied(url: str, error: OSError) -> TfprofError:
    return TfprofError(
        f"{url} cannot be copied to {cache_folder()}: {error.strerror or error}. "
        "Free some space there, or set XDG_CACHE_HOME to another folder."
    )


def _get(system: Any, path: str, part: Path, url: str) -> None:
    try:
        system.get_file(path, str(part))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _OF_OUR_DISK:
            raise
        raise TfprofError(f"{url} cannot be fetched ({type(error).__name__}: {error}). Try again.") from None
