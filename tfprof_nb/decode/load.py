"""Open profile files, each in its own format."""

from __future__ import annotations

import gzip
import mmap
import zlib
from collections.abc import Iterable
from pathlib import Path

from tfprof_nb._errors import BadProfileError

from .host import Host
from .xspace import read_xspace

_GZIP = b"\x1f\x8b"


def load_hosts(files: Iterable[Path], names: Iterable[str] | None = None) -> list[Host]:
    """Decode the files of one run, one `Host` each.

    Parameters
    ----------
    files
        ``*.xplane.pb`` files, plain or compressed with gzip. Plain ones are mapped, not read: the file must stay as
        it is while the host is in use.
    names
        The hosts' keys; the files' names without ``.xplane.pb`` when not given.

    Raises
    ------
    BadProfileError
        A file is of no supported kind, empty, cut short or damaged.
    """
    files = list(files)
    keys = [file.name.split(".xplane.pb")[0] for file in files] if names is None else names
    return [_load(file, key) for file, key in zip(files, keys, strict=True)]


def _load(file: Path, key: str) -> Host:
    if not file.name.endswith((".xplane.pb", ".xplane.pb.gz")):
        raise BadProfileError(
            f"{file}: this kind of file is not supported. Supported are XSpace profiles (*.xplane.pb) and the same "
            "compressed with gzip (*.xplane.pb.gz)."
        )
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
