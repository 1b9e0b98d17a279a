"""A profile's file: its decompressed bytes, and its kind."""

from __future__ import annotations

import mmap
import zlib
from pathlib import Path

from tfprof_nb._errors import BadProfileError
from tfprof_nb._units import size
from tfprof_nb.formats.files import XSPACES

_GZIP = b"\x1f\x8b"
_GZIP_FORMAT = 16 + zlib.MAX_WBITS
_JSON, _BINARY = (".json", ".json.gz"), (".pb", ".pb.gz")
_HEAD_BYTES = 64
_MIN_MAPPED_BYTES = 2 << 20  # a mapped file keeps a file descriptor, and smaller files are read as quickly
_MAX_SHARE = 0.5  # of the free memory for decompressed bytes, which must still be decoded


def is_xspace(file: Path) -> bool:
    """Whether a file is a profile of TensorFlow's profiler, by its name."""
    return file.name.endswith(XSPACES)


def is_run_metadata(file: Path) -> bool:
    """Whether a file is RunMetadata, neither an XSpace nor JSON: by its name, or else by its first bytes.

    Raises
    ------
    BadProfileError
        As `read`.
    """
    if file.name.endswith((*XSPACES, *_JSON, *_BINARY)):  # a binary message can begin like JSON
        return not file.name.endswith((*XSPACES, *_JSON))
    start = _head(file).removeprefix(b"\xef\xbb\xbf").lstrip()
    return not start.startswith((b"{", b"["))


def read(file: Path) -> bytes:
    """Return the bytes of a file, decompressed if it is compressed with gzip.

    Raises
    ------
    BadProfileError
        The compressed file is cut short, damaged, or too large for this machine.
    """
    data = file.read_bytes()
    return _decompressed(data, file) if data.startswith(_GZIP) else data


def mapped(file: Path) -> bytes | mmap.mmap:
    """Return the bytes of a file as `read` does; files from 2 MiB on that are not compressed are mapped."""
    with file.open("rb") as stream:
        if stream.read(len(_GZIP)) == _GZIP or stream.seek(0, 2) < _MIN_MAPPED_BYTES:
            return read(file)
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


def _head(file: Path) -> bytes:
    with file.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
        if not head.startswith(_GZIP):
            return head
        stream.seek(0)
        try:
            return zlib.decompressobj(_GZIP_FORMAT).decompress(stream.read(1 << 16), _HEAD_BYTES)
        except zlib.error as error:
            raise _damaged(file, error) from None


def _decompressed(data: bytes, file: Path) -> bytes:
    import psutil

    limit = int(psutil.virtual_memory().available * _MAX_SHARE)
    parts, left = [], limit
    while data:
        member = zlib.decompressobj(_GZIP_FORMAT)
        try:
            parts.append(member.decompress(data, left + 1))
        except zlib.error as error:
            raise _damaged(file, error) from None
        left -= len(parts[-1])
        if left < 0:
            raise BadProfileError(
                f"{file}: the decompressed file is larger than {size(limit)}, half of the free memory. Free some "
                "memory, or open the file on a larger machine."
            )
        if not member.eof:
            raise _damaged(file, "it ends too early")
        data = member.unused_data.lstrip(b"\0")  # some programs fill a file up
    return b"".join(parts)


def _damaged(file: Path, why: object) -> BadProfileError:
    return BadProfileError(f"{file}: the gzip file is cut short or damaged ({why}). Copy it again.")
