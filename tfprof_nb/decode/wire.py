"""Read protobuf's wire format at many positions at once.

A Python loop over millions of fields would take seconds. Here numpy steps through many messages in lockstep: round r
reads the r-th field of every message that has r fields. See https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Int64
from tfprof_nb._errors import BadProfileError

# uint64; mypy believes that it becomes signed in expressions with Python numbers.
Uint64 = npt.NDArray[Any]
Data = bytes | memoryview | mmap.mmap
# Positions in a file, to keep: 32 bits unless the file needs more.
Places = npt.NDArray[np.uint32 | np.int64]

_ROUNDS = 256  # of `take_run`; what is left is for `walk`, which is quick with few long messages
# Beyond the end of any file, and safe to add to.
_NOWHERE = 1 << 62
_CONTINUES = 0x8080_8080_8080_8080
# For `_join_sevens`, which joins pairs of 1, 2 and 4 bytes: bits of a half, shift of the upper half, its mask.
_JOINS = ((8, 1, 0x7F00_7F00_7F00_7F00), (16, 2, 0x3FFF_0000_3FFF_0000), (32, 4, 0x0FFF_FFFF_0000_0000))


class Fields(NamedTuple):
    """Fields as columns.

    A field begins at ``at`` and ends before ``stop``. ``tag`` is its number times 8 plus the wire type, or 0 if that is
    above 127. ``value`` is the number (the raw 64 bits), or the length of a text, bytes or message from ``start`` on.
    """

    at: Int64
    tag: npt.NDArray[np.uint8]
    value: Uint64
    start: Int64
    stop: Int64

    @property
    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """The columns as a tuple of arrays."""
        return self

    def where(self, tag: int) -> Fields:
        """Return the fields with this tag."""
        return self.take(np.flatnonzero(self.tag == tag))

    def by_tag(self) -> Iterator[tuple[int, Int64 | slice]]:
        """Yield each tag that occurs with the indices of its fields: a slice of all if there is only one tag."""
        if self.tag.size and self.tag.min() == self.tag.max():
            yield int(self.tag[0]), slice(None)
        else:
            for tag in np.flatnonzero(np.bincount(self.tag)).tolist():
                yield tag, np.flatnonzero(self.tag == tag)

    def take(self, index: Int64) -> Fields:
        """Return the fields at these indices."""
        return Fields(self.at[index], self.tag[index], self.value[index], self.start[index], self.stop[index])


class Wire:
    """The bytes of a file, readable as protobuf fields at arrays of positions, without copies.

    ``name`` is the file's name in messages.
    """

    def __init__(self, data: Data, name: str) -> None:
        self.name = name
        self.data = memoryview(data)
        self.size = len(self.data)
        self.place_type: type[np.uint32 | np.int64] = np.uint32 if self.size < 1 << 32 else np.int64
        padded = self.data if self.size >= 8 else bytes(self.data).ljust(8, b"\0")
        self.bytes = np.frombuffer(padded, np.uint8)
        # The 8 bytes from every position on, as one number.
        self._words: Uint64 = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
        self._pairs = np.ndarray((len(padded) - 1,), "<u2", padded, strides=(1,))

    def malformed(self, position: int) -> BadProfileError:
        """Return the error for a position at which there is no field, or one that does not fit."""
        return BadProfileError(
            f"{self.name}: this is not a complete XSpace profile: the field at byte {position} of {self.size} does not "
            "fit. The file is cut short, damaged, or of another kind: copy it again, or capture again."
        )

    def text(self, start: int, stop: int) -> str:
        """Return the text between two positions."""
        return str(self.data[start:stop], "utf-8", "replace")

    def words(self, at: Int64) -> Uint64:
        """Return the 8 bytes from each position on as a number, with zeros beyond the end."""
        last = len(self._words) - 1
        if at.size == 0 or at.max() <= last:
            return self._words[at]
        near = np.minimum(at, last)
        return self._words[near] >> (8 * (at - near)).astype(np.uint64)

    def varints(self, at: Int64) -> tuple[Uint64, Int64]:
        """Read a varint of up to ten bytes at each position; return values and lengths."""
        low = self.words(at)
        mask = _up_to_last_byte(low)
        bits = np.bitwise_count(mask)
        most = int(bits.max(initial=0))
        value = _join_sevens(low & mask, most)
        length = (bits >> 3).astype(np.int64)
        if most == 64:
            long = np.flatnonzero(low & _CONTINUES == _CONTINUES)
            high = self.words(at[long] + 8)
            value[long] |= (high & 0x7F) << 56 | (high >> 8 & high >> 7 & 1) << 63
            length[long] = np.where(high & 0x80, np.where(high & 0x8000, _NOWHERE, 10), 9)
        return value, length

    def read(self, at: Int64) -> Fields:
        """Read the field at each position; if there is none, its ``stop`` is far beyond the end of the file."""
        last = self.bytes.size - 2
        near = at if not at.size or at.max() <= last else np.minimum(at, last)
        tag, length = self.bytes[near], self.bytes[near + 1]
        start = at + 2
        # The usual case: one byte of tag, one of value, wire type 0 (varint) or 2 (length).
        stop = start + length * (tag >> 1 & 1)
        fields = Fields(at, tag, length.astype(np.uint64), start, stop)
        odd = np.flatnonzero((length >= 0x80) | (tag & 0x85 != 0) | (tag < 8) | (near != at))
        if odd.size:
            for column, exact in zip(fields.columns, self._read_longer(at[odd]).columns, strict=True):
                column[odd] = exact
        return fields

    def _read_longer(self, at: Int64) -> Fields:
        """Read fields of any value size."""
        word = self.words(at)
        tag = word.astype(np.uint8)
        rest = word >> 8
        mask = _up_to_last_byte(rest)
        bits = np.bitwise_count(mask)
        value = _join_sevens(rest & mask, int(bits.max(initial=0)))
        start = at + (bits >> 3)
        start += 1
        # The usual case until here: up to seven bytes of value.
        stop = start + value.view(np.int64) if (tag & 2).all() else start + (value * (tag >> 1 & 1)).view(np.int64)
        fields = Fields(at, tag, value, start, stop)
        odd = np.flatnonzero((bits == 64) | (tag & 0x85 != 0) | (tag < 8))
        if odd.size:
            for column, exact in zip(fields.columns, self._read_any(at[odd]).columns, strict=True):
                column[odd] = exact
        return fields

    def _read_any(self, at: Int64) -> Fields:
        """Read fields of any wire type, tag size and value size."""
        tag, length = self.varints(at)
        body = np.minimum(at + length, self.size)
        kind = tag & 7
        value, length = self.varints(body)
        fixed = (kind == 1) | (kind == 5)
        width = np.where(kind == 5, np.uint64(0xFFFF_FFFF), np.uint64(2**64 - 1))
        value = np.where(fixed, self.words(body) & width, value)
        start = body + np.where(fixed, np.where(kind == 5, 4, 8), length)
        stop = start + np.where(kind == 2, np.minimum(value, _NOWHERE).astype(np.int64), 0)
        legal = (tag >= 8) & (tag < 2**32) & (fixed | (kind == 0) | (kind == 2)) & (start < _NOWHERE)
        return Fields(at, np.where(tag < 0x80, tag, 0), value, start, np.where(legal, stop, _NOWHERE))

    def walk(self, begin: Int64, end: Int64) -> Iterator[tuple[Int64, Fields]]:
        """Step through many short messages in lockstep.

        Yields, round by round, the indices of the messages that have another field, and these fields. If only a few
        messages with many fields are left, the last round has all their fields: then indices repeat, in the order of
        the fields. Raises `BadProfileError` if a field does not end within its message.
        """
        owner = np.flatnonzero(begin < end)
        at, end = begin[owner], end[owner]
        for round_ in count():
            if not owner.size:
                return
            if round_ >= 32 and owner.size <= 16:
                rest = [self.chain(*span) for span in zip(at.tolist(), end.tolist(), strict=True)]
                yield np.repeat(owner, [places.size for places in rest]), self.read(np.concatenate(rest))
                return
            fields = self.read(at)
            if (fields.stop > end).any():
                raise self.malformed(int(at[np.argmax(fields.stop > end)]))
            yield owner, fields
            more = np.flatnonzero(fields.stop < end)
            if more.size == owner.size:
                at = fields.stop
            else:
                owner, at, end = owner[more], fields.stop[more], end[more]

    def take_next(self, at: Int64, end: Int64, tag: int) -> tuple[Int64 | slice, Uint64]:
        """Read the number at each position whose field has this tag and ends by ``end``, and move ``at`` behind it.

        Returns the indices of these positions, and the numbers.
        """
        is_next = (self.bytes[np.minimum(at, self.size - 1)] == tag) & (at < end)
        index = slice(None) if is_next.all() else np.flatnonzero(is_next)
        place = at[index] + 1
        value, length = self.varints(np.minimum(place, self.size))
        place += length
        if (whole := place <= end[index]).all():
            at[index] = place
            return index, value
        index = np.arange(at.size)[index][whole]
        at[index] = place[whole]
        return index, value[whole]

    def take_run(self, at: Int64, end: Int64, tag: int) -> Iterator[tuple[Int64, Int64, Int64]]:
        """Step through consecutive texts and messages of less than 128 bytes with one tag, up to 256 of them.

        Yields, round by round, the indices of the positions with another such field, its start and its stop. Moves
        ``at`` behind the last field of each position.
        """
        index = np.flatnonzero(at + 1 < end)
        for _ in range(_ROUNDS):
            if not index.size:
                return
            place, limit = at[index], end[index]
            head = self._pairs[place]
            start = place + 2
            stop = start + (head >> 8)
            fits = (head & 0x80FF == tag) & (stop <= limit)
            if not fits.all():
                index, start, stop, limit = index[fits], start[fits], stop[fits], limit[fits]
            at[index] = stop
            yield index, start, stop
            index = index[stop + 1 < limit]

    def last(self, begin: Int64, end: Int64, *tags: int) -> list[Fields]:
        """Return, for each tag, the last such field of each message; a field of zeros if there is none."""
        none = np.zeros(begin.size, np.int64)
        empty = Fields(none, none.astype(np.uint8), none.astype(np.uint64), none, none)
        found = [empty.take(np.arange(begin.size)) for _ in tags]
        for owner, fields in self.walk(begin, end):
            for tag, into in zip(tags, found, strict=True):
                hit = np.flatnonzero(fields.tag == tag)
                for column, values in zip(into.columns, fields.columns, strict=True):
                    column[owner[hit]] = values[hit]
        return found

    def chain(self, begin: int, end: int, most: int | None = None) -> Int64:
        """Return where the fields of one message start, by a plain loop, for messages of few fields.

        Raises
        ------
        BadProfileError
            A field does not end within the message, or the message has more than ``most`` fields.
        """
        data, starts, at = self.data, array("q"), begin
        while at < end:
            if len(starts) == most:
                raise BadProfileError(f"{self.name}: the file has more than {most:,} planes. It is damaged.")
            starts.append(at)
            tag, length = data[at], data[at + 1] if at + 1 < end else 0x80
            if 8 <= tag < 0x80 and length < 0x80 and tag & 5 == 0:
                after = at + 2 + (length if tag & 2 else 0)
            else:
                after = self._after(at)
            if after > end:
                raise self.malformed(at)
            at = after
        return np.frombuffer(starts, dtype=np.int64)

    def _after(self, at: int) -> int:
        """Return where the field at one position ends; far beyond the end of the file if there is none."""
        tag, at = self._varint(at)
        kind = tag & 7
        if not 8 <= tag < 2**32 or kind not in (0, 1, 2, 5):
            return _NOWHERE
        if kind in (1, 5):
            return at + (8 if kind == 1 else 4)
        value, at = self._varint(at)
        return at + value if kind == 2 else at

    def _varint(self, at: int) -> tuple[int, int]:
        """Return the number at one position, and where it ends."""
        value = 0
        for shift in range(0, 70, 7):
            if at + shift // 7 >= self.size:
                break
            byte = self.data[at + shift // 7]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value % 2**64, at + shift // 7 + 1
        return 0, _NOWHERE


def _up_to_last_byte(words: Uint64) -> Uint64:
    """Return a mask of the lowest byte without its top bit (the last of a varint) and of all bytes below it."""
    ends = ~words
    ends &= _CONTINUES
    mask = ends - np.uint64(1)
    mask ^= ends
    return mask


def _join_sevens(groups: Uint64, bits: int) -> Uint64:
    """Drop the top bit of every byte and close the gaps; at most the lowest ``bits`` of each number are set."""
    x = groups & 0x7F7F_7F7F_7F7F_7F7F
    for width, shift, upper in _JOINS:
        if bits > width:
            moved = x & upper
            x ^= moved
            moved >>= shift
            x |= moved
    return x
