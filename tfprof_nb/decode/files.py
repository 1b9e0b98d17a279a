"""A profile's file: its decompressed bytes, and its kind."""

import mmap
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from tfprof_nb._errors import BadProfileError
from tfprof_nb._memory import free_bytes
from tfprof_nb._units import size
from tfprof_nb.formats.files import XSPACES

Kind = Literal["xspace", "json", "run_metadata", "local_trace", "tfprof"]

_GZIP = b"\x1f\x8b"
_GZIP_FORMAT = 16 + zlib.MAX_WBITS
_JSON, _BINARY = (".json", ".json.gz"), (".pb", ".pb.gz")
_HEAD_BYTES = 1 << 14
_MAX_DEVICE_FIELD = 3
_ALWAYS_READ_BYTES, _COPIED_BYTES = 2 << 20, 16 << 20
_MAX_READ_SHARE = 0.25  # of the free memory for the bytes of a file; of a larger one a copy is mapped
_MAX_SHARE = 0.5  # of the free memory for decompressed bytes, which must still be decoded
# Profiles shrink by a factor of 5 to 40 in gzip. Beyond this factor, and this size, a file is made to fill the memory.
_MAX_RATIO, _ANY_RATIO_BYTES = 250, 64 << 20
_ALWAYS_BYTES = 64 << 20


def kind_of(file: Path) -> Kind:
    """Return the kind of a profile's file: by its name, or else by its first bytes.

    What is of no known kind counts as RunMetadata: its reader says what can be read.

    Raises
    ------
    BadProfileError
        As `read`.
    """
    if file.name.endswith(XSPACES):
        return "xspace"
    if file.name.endswith(_JSON):
        return "json"
    head = _head(file)
    if kind := _kind_of_message(head):
        return kind
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    is_json = text.startswith((b"{", b"[")) and not file.name.endswith(_BINARY)
    return "json" if is_json else "run_metadata"


def _kind_of_message(head: bytes) -> Kind | None:
    """Tell messages apart whose first field has number 1: the planes of an XSpace, or the entries of a map.

    A plane has a name; an entry has another message: a device of a `Trace`, with few fields, or a node of tfprof's
    profile.
    """
    first = next(_fields(head), None)
    if first is None or first[0] != 1 or not isinstance(first[1], bytes):
        return None
    parts = dict(_fields(first[1]))
    value = parts.get(2)
    if not isinstance(value, bytes) or not isinstance(parts.get(1, 0), int):
        return None
    if not value.startswith(b"\n"):
        return "xspace"
    return "local_trace" if all(number <= _MAX_DEVICE_FIELD for number, _ in _fields(value)) else "tfprof"


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and value of a message's fields, up to one that is invalid; the last may be cut short."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        if tag & 7 not in (0, 2):
            return
        value, at = _varint(message, at)
        if tag & 7 == 0:
            yield tag >> 3, value
        else:
            yield tag >> 3, message[at : at + value]
            at += value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a number and the place behind it."""
    value = 0
    for shift, byte in zip(range(0, 64, 7), message[at : at + 10], strict=False):
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            break
    return value, at


def read(file: Path) -> bytes:
    """Return the bytes of a file, decompressed if it is compressed with gzip.

    Raises
    ------
    BadProfileError
        The compressed file is cut short, damaged, or too large for this machine.
    """
    data = file.read_bytes()
    return _decompressed(data, file) if data.startswith(_GZIP) else data


def read_or_map(file: Path) -> bytes | memoryview | mmap.mmap:
    """Return the bytes of a file as `read` does, where they are quick to reach: numpy asks for large pages.

    Of a file larger than a quarter of the free memory, unless it is compressed, a copy without a name is mapped. The
    file itself is not: a program that reads a mapped file after another program has cut it short is killed by the
    system.

    Raises
    ------
    BadProfileError
        As `read`; or there is no room for the copy.
    """
    with file.open("rb") as stream:
        if stream.read(len(_GZIP)) == _GZIP:
            return read(file)
        fits = _fits(stream.seek(0, 2))
        stream.seek(0)
        if fits:
            return np.fromfile(stream, np.uint8).data
        with tempfile.TemporaryFile() as copy:
            try:
                shutil.copyfileobj(stream, copy, _COPIED_BYTES)
                copy.flush()
            except OSError as error:
                raise BadProfileError(
                    f"{file}: the file is larger than a quarter of the free memory, and cannot be copied to "
                    f"{tempfile.gettempdir()} ({error.strerror}). Free memory, or set TMPDIR to a folder with "
                    f"{size(file.stat().st_size)} of free space, and start Python again."
                ) from None
            return mmap.mmap(copy.fileno(), 0, access=mmap.ACCESS_READ)


def _fits(file_bytes: int) -> bool:
    return file_bytes < _ALWAYS_READ_BYTES or file_bytes <= free_bytes() * _MAX_READ_SHARE


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
    free = int(free_bytes() * _MAX_SHARE)
    sane = max(len(data) * _MAX_RATIO, _ANY_RATIO_BYTES)
    limit = min(free, sane)
    parts, left = [], limit
    while data:
        member = zlib.decompressobj(_GZIP_FORMAT)
        try:
            parts.append(member.decompress(data, left + 1))
        except zlib.error as error:
            raise _damaged(file, error) from None
        left -= len(parts[-1])
        if left < 0 and limit == sane:
            raise BadProfileError(
                f"{file}: the gzip file grows to more than {_MAX_RATIO} times its size: it is damaged, or made to fill "
                "the memory. Decompress it yourself if you trust it, and load the decompressed file."
            )
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


def check_room(needed_bytes: int, source: str) -> None:
    """Raise `BadProfileError` if reading takes more memory than is free; the message calls the file ``source``."""
    if needed_bytes > _ALWAYS_BYTES and needed_bytes > (free := free_bytes()):
        raise BadProfileError(
            f"{source}: to read this file takes about {size(needed_bytes)} of memory, and {size(free)} are free. Shut "
            "down other kernels, open the file on a larger machine, or record fewer steps."
        )
