"""Find what occurs again: many events have the same stats, byte by byte, and need to be read only once."""

import numpy as np

from tfprof_nb._arrays import Int64
from tfprof_nb.decode.wire import Uint64, Wire

_WORD = 8
# Shorter bytes are read as quickly as compared, longer ones are rarely equal.
_LEAST, _MOST = 2 * _WORD, 8 * _WORD
_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)  # odd and irregular: the upper bits of a product depend on all bits
_TABLE_BITS = 14


def first_alike(keys: Uint64) -> Int64:
    """Return for each key the place of the first that is equal to it; now and then its own instead."""
    slot = (keys * _MIX) >> np.uint64(64 - _TABLE_BITS)
    places = np.arange(keys.size)
    table = np.empty(1 << _TABLE_BITS, np.int64)
    table[slot[::-1]] = places[::-1]
    first = table[slot]
    return np.where(keys[first] == keys, first, places)


def equal_bytes(wire: Wire, begin: Int64, size: Int64, kind: Int64) -> Int64:
    """Return for each span of bytes the place of one that is equal to it and of its kind, often its own.

    A span that stands for others stands for itself.
    """
    alike = np.arange(size.size)
    among = np.flatnonzero((size >= _LEAST) & (size <= _MOST))
    at, size, kind = begin[among], size[among], kind[among]
    last = size - _WORD
    words = [wire.words(at + np.minimum(offset, last)) for offset in range(0, int(size.max(initial=0)), _WORD)]
    key = (size << 32 | kind).view(np.uint64)
    for word in words:
        key = (key ^ word) * _MIX
    first = first_alike(key)
    same = (size[first] == size) & (kind[first] == kind)
    for word in words:
        same &= word[first] == word
    alike[among[same]] = among[first[same]]
    return alike
