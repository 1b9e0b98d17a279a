"""Tensors as captures write them: ``float32[32,?];int64[...]``. ``?`` is an open size, ``...`` an open rank."""

import math
import re
from typing import NamedTuple

_TENSOR = re.compile(r"(\w+)\[(.*)\]")
_BITS = re.compile(r"[a-z]+(\d+)")
_UNNUMBERED_BITS = {"bool": 8, "half": 16}


class Tensor(NamedTuple):
    """A tensor's type and shape: None is an open size, or as the shape an open rank."""

    dtype: str
    shape: tuple[int | None, ...] | None

    @property
    def bytes(self) -> int:
        """Its size; 0 if it is unknown."""
        numbered = _BITS.match(self.dtype)
        bits = int(numbered[1]) if numbered else _UNNUMBERED_BITS.get(self.dtype, 0)
        if self.shape is None or None in self.shape:
            return 0
        return math.prod(size for size in self.shape if size is not None) * bits // 8


def parse_tensors(text: str) -> list[Tensor]:
    """Read tensors.

    Examples
    --------
    >>> parse_tensors("float32[32,?];int64[...]")
    [Tensor(dtype='float32', shape=(32, None)), Tensor(dtype='int64', shape=None)]
    """
    return [Tensor(match[1], _shape(match[2])) for match in map(_TENSOR.fullmatch, text.split(";")) if match]


def _shape(sizes: str) -> tuple[int | None, ...] | None:
    if sizes == "...":
        return None
    return tuple(int(size) if size.isdecimal() else None for size in sizes.split(",") if size)


def sizes_of(text: str) -> str:
    """Return the shape of a tensor as tfprof writes it; empty for a scalar, for several, or if a size is open.

    Examples
    --------
    >>> sizes_of("float32[8,3]"), sizes_of("float32[?,3]")
    ('8x3', '')
    """
    shapes = [tensor.shape for tensor in parse_tensors(text)]
    known = len(shapes) == 1 and shapes[0] is not None and None not in shapes[0]
    return "x".join(map(str, shapes[0] or ())) if known else ""


def bytes_of(text: str) -> int:
    """Return the size of tensors together; those of an unknown size count 0.

    Examples
    --------
    >>> bytes_of("float32[2,3];int64[]")
    32
    """
    return sum(tensor.bytes for tensor in parse_tensors(text))
