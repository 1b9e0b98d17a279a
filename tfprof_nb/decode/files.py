"""A profile's file: its bytes, unzipped, and of which kind it is."""

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
_MIN_MAPPED_BYTES = 2 << 20  # each mapped file keeps a file descriptor; smaller ones are read as quickly
_UNZIPPED_SHARE = 0.5  # of the free memory: what is unzipped must still be decoded


def is_xspace(file: Path) -> bool:
    """Tell, by its name, a profile of TensorFlow's profiler."""
    return file.name.endswith(XSPACES)


def is_run_metadata(file: Path) -> bool:
    """Tell RunMetadata from an XSpace and from JSON: by its name, or else by its start.

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
    """Return what a file holds, unzipped where it is compressed with gzip.

    Raises
    ------
    BadProfileError
        It is compressed, and cut short, damaged, or too large for this machine.
    """
    data = file.read_bytes()
    return _unzipped(data, file) if data.startswith(_GZIP) else data


def mapped(file: Path) -> bytes | mmap.mmap:
    """Return what a file holds as `read` does, but without reading it where it is large and not compressed."""
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


def _unzipped(data: bytes, file: Path) -> bytes:
    import psutil

    most = int(psutil.virtual_memory().available * _UNZIPPED_SHARE)
    parts, left = [], most
    while data:
        member = zlib.decompressobj(_GZIP_FORMAT)
        try:
            parts.append(member.decompress(data, left + 1))
        except zlib.error as error:
            raise _damaged(file, error) from None
        left -= len(parts[-1])
        if left < 0:
            raise BadProfileError(
                f"{file}: unzipped, it is larger than {size(most)}, half of the memory that is free. Free some, or "
                "open it on a larger machine."
            )
        if not member.eof:
            raise _damaged(file, "it ends too early")
        data = member.unused_data.lstrip(b"\0")  # some programs fill a file up
    return b"".join(parts)


def _damaged(file: Path, why: object) -> BadProfileError:
    return BadProfileError(f"{file}: the gzip file is cut short or damaged ({why}). Copy it again.")
