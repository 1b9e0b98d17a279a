"""Profiles for pprof: gzipped ``profile.proto`` (github.com/google/pprof, proto/profile.proto)."""

import gzip
from collections.abc import Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T", bound=Hashable)
Location = tuple[str, str, int]
"""A function's name, its file and the line; the last two empty and 0 where there are none."""


class Sample(NamedTuple):
    """A stack, its innermost location first, and its values: how often, and how much."""

    stack: list[Location]
    values: tuple[int, int]


# Numbers of the message's fields.
_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING = 1, 2, 4, 5, 6


def pprof(measure: str, unit: str, samples: Sequence[Sample]) -> bytes:
    """Return samples as the content of a file, usually called ``*.pb.gz``.

    Parameters
    ----------
    measure, unit
        What the second value of a sample counts, e.g. ``micros`` in ``microseconds``.
    """
    texts, functions, locations = _Numbers[str](0), _Numbers[tuple[str, str]](1), _Numbers[Location](1)
    texts.of("")
    body = bytearray()
    for name, of in (("occurrences", "count"), (measure, unit)):
        body += _message(_SAMPLE_TYPE, _number(1, texts.of(name)) + _number(2, texts.of(of)))
    for stack, values in samples:
        where = b"".join(_number(1, locations.of(location)) for location in stack)
        body += _message(_SAMPLE, where + b"".join(_number(2, value) for value in values))
    for name, file, line in list(locations):
        at = _number(1, functions.of((name, file))) + _number(2, line)
        body += _message(_LOCATION, _number(1, locations.of((name, file, line))) + _message(4, at))
    for name, file in list(functions):
        named = _number(2, texts.of(name)) + _number(3, texts.of(name)) + _number(4, texts.of(file))
        body += _message(_FUNCTION, _number(1, functions.of((name, file))) + named)
    for text in texts:
        body += _message(_STRING, text.encode())
    return gzip.compress(bytes(body), mtime=0)


class _Numbers(dict[T, int], Generic[T]):
    """Numbers for distinct values, in the order in which they are met."""

    def __init__(self, first: int) -> None:
        self._first = first

    def of(self, value: T) -> int:
        return self.setdefault(value, len(self) + self._first)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content
