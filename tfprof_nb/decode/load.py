"""Open profile files, each in its own format."""

from __future__ import annotations

import gzip
import mmap
import zlib
from collections.abc import Iterable
from pathlib import Path

from tfprof_nb._errors import BadProfileError
from tfprof_nb.runs import Run, key_of

from .chrome_trace import read_chrome_trace
from .host import Host
from .merge import merge_runs
from .run_metadata import read_run_metadata
from .xspace import read_xspace

_GZIP = b"\x1f\x8b"
_XSPACE = (".xplane.pb", ".xplane.pb.gz")
_JSON, _BINARY = (".json", ".json.gz"), (".pb", ".pb.gz")


def load_hosts(files: Iterable[Path], names: Iterable[str] | None = None) -> list[Host]:
    """Decode the files of one run, one `Host` each.

    Parameters
    ----------
    files
        XSpace profiles (``*.xplane.pb``), Chrome traces (JSON), or RunMetadata (binary or text); plain or compressed
        with gzip. Plain ``*.xplane.pb`` are mapped, not read: the file must stay as it is while the host is in use.
    names
        The hosts' keys; the files' names without the suffix of their kind when not given.

    Raises
    ------
    BadProfileError
        A file is of no supported kind, empty, cut short or damaged.
    """
    files = list(files)
    keys = [key_of(file) for file in files] if names is None else names
    return [_load(file, key) for file, key in zip(files, keys, strict=True)]


def load_run(run: Run) -> list[Host]:
    """Decode a run: one `Host` for each of its hosts, files that are runs of one host merged into one."""
    if run.parts:
        return [merge_runs(load_hosts(run.files, run.parts), run.hosts[0])]
    return load_hosts(run.files, run.hosts)


def _load(file: Path, key: str) -> Host:
    if file.name.endswith(_XSPACE):
        return _load_xspace(file, key)
    data = file.read_bytes()
    if data.startswith(_GZIP):
        data = _unzip(file)
    read = read_chrome_trace if _is_json(file, data) else read_run_metadata
    return read(data, key, str(file))


def _is_json(file: Path, data: bytes) -> bool:
    """By its name, or else by its start: a binary message can begin like JSON."""
    if file.name.endswith((*_JSON, *_BINARY)):
        return file.name.endswith(_JSON)
    return data[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))


def _load_xspace(file: Path, key: str) -> Host:
    with file.open("rb") as stream:
        if stream.read(2) == _GZIP:
            return read_xspace(_unzip(file), key, str(file))
        empty = stream.seek(0, 2) == 0
        data = b"" if empty else mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    return read_xspace(data, key, str(file))


def _unzip(file: Path) -> bytes:
    try:
        return gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise BadProfileError(f"{file}: the gzip file is cut short or damaged ({error}). Copy it again.") from None
