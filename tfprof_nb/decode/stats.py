"""The stats of one file's events, decoded when they are first needed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Bools, Int32, Int64, Ints, Objects
from tfprof_nb.decode import schema
from tfprof_nb.decode.alike import first_alike
from tfprof_nb.decode.host import Stat, StatValue
from tfprof_nb.decode.metadata import Metadata
from tfprof_nb.decode.wire import Places, Uint64, Wire
from tfprof_nb.formats.xspace import THREADPOOL_PREFIX

_BLOCK = 1 << 13
_FEW = 8
_RECENT = 2
_NUMBERS = (schema.STAT_DOUBLE, schema.STAT_UINT64, schema.STAT_INT64)
_TEXTS = (schema.STAT_TEXT, schema.STAT_REF)
_IS_NUMBER, _IS_TEXT = np.isin(np.arange(256), _NUMBERS), np.isin(np.arange(256), _TEXTS)
_IS_VALUE = np.isin(np.arange(256), (*_NUMBERS, *_TEXTS, schema.STAT_BYTES))
_HAS_VARINT = _IS_VALUE & (np.arange(256) != schema.STAT_DOUBLE)


class Column(NamedTuple):
    """The values of one stat; see `Values`."""

    owner: Ints
    kind: npt.NDArray[np.uint8]
    value: Uint64

    def take(self, index: npt.NDArray[np.generic] | slice) -> Column:
        """Return the values at these indices."""
        return Column(self.owner[index], self.kind[index], self.value[index])

    def by_owner(self) -> Column:
        """Return the first value of each owner, in the order of owners."""
        found = self
        if (found.owner[1:] < found.owner[:-1]).any():
            found = found.take(np.argsort(found.owner, kind="stable"))
        again = found.owner[1:] == found.owner[:-1]
        return found.take(np.flatnonzero(np.append(True, ~again))) if again.any() else found


_NO_VALUES = Column(np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.uint64))


class Values(NamedTuple):
    """Stats as columns.

    ``owner`` is the row of the event (or of the metadata), ``key`` the stat's id, ``kind`` the tag of the value's
    field. ``value`` is its raw 64 bits; for text and bytes, the position of the field in the file.
    """

    owner: npt.NDArray[Any]
    key: npt.NDArray[Any]
    kind: npt.NDArray[np.uint8]
    value: Uint64

    def take(self, index: npt.NDArray[np.generic] | slice) -> Values:
        """Return the stats at these indices."""
        return Values(self.owner[index], self.key[index], self.kind[index], self.value[index])


def read_values(wire: Wire, begin: Int64, end: Int64, owner: npt.NDArray[Any]) -> Values:
    """Read the stat messages from ``begin`` to ``end``, each of one ``owner``; those without a value are left out."""
    key, kind, value, usual = _read_usual(wire, begin, end)
    others = np.flatnonzero(~usual)
    key[others], kind[others] = 0, 0
    for index, fields in wire.walk(begin[others], end[others]):
        stat = others[index]
        hit = np.flatnonzero(fields.tag == schema.STAT_METADATA)
        key[stat[hit]] = fields.value[hit].view(np.int64)
        hit = np.flatnonzero(_IS_VALUE[fields.tag])
        tag = fields.tag[hit]
        kind[stat[hit]] = tag
        in_file = (tag == schema.STAT_TEXT) | (tag == schema.STAT_BYTES)
        value[stat[hit]] = np.where(in_file, fields.at[hit].view(np.uint64), fields.value[hit])
    found = Values(owner, key, kind, value)
    return found if kind.all() else found.take(np.flatnonzero(kind))


def _read_usual(wire: Wire, begin: Int64, end: Int64) -> tuple[Int64, npt.NDArray[np.uint8], Uint64, Bools]:
    """Read stat messages on the assumption that holds for nearly all: an id of one byte, then a whole number or a text.

    Returns ids, kinds and values (see `Values`) per message, and for which messages the assumption holds.
    """
    word = wire.words(begin)
    kind = (word >> 16).astype(np.uint8)
    number, length = wire.varints(np.minimum(begin + 3, wire.size))
    stop = begin + length
    stop += 3
    in_file = np.flatnonzero((kind == schema.STAT_TEXT) | (kind == schema.STAT_BYTES))
    stop[in_file] += number[in_file].view(np.int64)
    number[in_file] = (begin[in_file] + 2).view(np.uint64)
    usual = (word & 0x80FF == schema.STAT_METADATA) & _HAS_VARINT[kind] & (stop == end)
    return (word >> 8 & 0x7F).view(np.int64), kind, number, usual


def read_stats(wire: Wire, begin: Int64, end: Int64, tag: int) -> Values:
    """Read the stats in fields with ``tag`` of messages, each from ``begin`` to ``end``; owners are their indices.

    They are ordered by their place among the stats of their owner: first the first stats of all owners.
    """
    at = begin.copy()
    found = [*wire.take_run(at, end, tag)]
    rest = np.flatnonzero(at < end)
    for index, fields in wire.walk(at[rest], end[rest]):
        hit = np.flatnonzero(fields.tag == tag)
        found.append((rest[index[hit]], fields.start[hit], fields.stop[hit]))
    if not found:
        found.append((begin[:0],) * 3)
    owner, start, stop = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return read_values(wire, start, stop, owner)


def python_values(wire: Wire, names: Metadata, plane: int, values: Values) -> dict[str, StatValue]:
    """Return stats of one plane by name, as Python values; the first counts if several have one name."""
    found: dict[str, StatValue] = {}
    planes = np.full(values.key.size, plane)
    keys = names.names[names.rows(planes, values.key)]
    references = names.names[names.rows(planes, values.value.view(np.int64))]
    for key, reference, kind, value in zip(keys, references, values.kind.tolist(), values.value, strict=True):
        found.setdefault(key, reference if kind == schema.STAT_REF else _python_value(wire, kind, value))
    return found


def _python_value(wire: Wire, kind: int, value: np.uint64) -> StatValue:
    if kind == schema.STAT_DOUBLE:
        return float(value.view(np.float64))
    if kind == schema.STAT_INT64:
        return int(value.view(np.int64))
    if kind == schema.STAT_UINT64:
        return int(value)
    field = wire.read(np.array([value]).view(np.int64))
    start, stop = int(field.start[0]), int(field.stop[0])
    return wire.text(start, stop) if kind == schema.STAT_TEXT else bytes(wire.data[start:stop])


@dataclass(eq=False)
class RowStats:
    """The stats of some rows by name, read once for all rows that have the same bytes.

    Attributes
    ----------
    columns
        By name, the values of each reading; their owners are numbers of readings.
    rows, reading
        The rows, and the number of the reading of each.
    """

    columns: dict[str, Column]
    rows: Int32
    reading: Int32

    def __post_init__(self) -> None:
        self._of_few: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        """Return the values of a stat; their owners are rows, ascending."""
        if name in self._of_few:
            return self._of_few[name]
        if name not in self.columns:
            return _NO_VALUES
        found = self._spread(self.columns[name])
        if found.owner.size <= self.rows.size // _FEW:  # others take much memory, and are rarely asked for again
            self._of_few[name] = found
        return found

    def _spread(self, column: Column) -> Column:
        """Give the values of readings to all rows that have them."""
        first, is_shared = self._first
        if not is_shared[column.owner].any():
            return column._replace(owner=self.rows[first[column.owner]])
        place = np.full(first.size, -1, np.int32)
        place[column.owner] = np.arange(column.owner.size)
        place = place[self.reading]
        some = np.flatnonzero(place >= 0)
        return column.take(place[some])._replace(owner=self.rows[some])

    @cached_property
    def _first(self) -> tuple[Int64, Bools]:
        """Per reading: a row that has it, as an index into the rows, and whether others have it too."""
        first = np.empty(int(self.reading.max(initial=-1)) + 1, np.int64)
        first[self.reading] = np.arange(self.reading.size)
        return first, np.bincount(self.reading) > 1


@dataclass(eq=False)
class FileStats:
    """The stats of a file's events: all are decoded when one is first needed, and kept.

    Attributes
    ----------
    wire, stat_metadata, event_metadata
        The file and its names.
    plane, metadata
        The plane and the event metadata of each row.
    begin, size
        The position of each row's first stat, and the number of bytes from there to the end of the event. Rows with
        equal stats can have one position.
    """

    wire: Wire
    stat_metadata: Metadata
    event_metadata: Metadata
    plane: npt.NDArray[np.uint16]
    metadata: Int32
    begin: Places
    size: Int32

    def __post_init__(self) -> None:
        # What connects events is asked for several times in a row.
        self._recent: dict[str, Stat] = {}

    def ints(self, stat: str) -> Stat:
        """See `Host.ints`."""
        if stat in self._recent:
            return self._recent[stat]
        found = self._ints(stat)
        if found.rows.size > self._of_events.rows.size // _FEW:
            if len(self._recent) == _RECENT:
                del self._recent[next(iter(self._recent))]
            self._recent[stat] = found
        return found

    def _ints(self, stat: str) -> Stat:
        found = self._select(stat, _IS_NUMBER)
        double = np.flatnonzero(found.kind == schema.STAT_DOUBLE)
        values = found.value.view(np.int64)
        if double.size:
            values = values.copy()
            # Values outside int64 (infinity, 1e300) become arbitrary numbers.
            with np.errstate(invalid="ignore"):
                values[double] = found.value[double].view(np.float64).astype(np.int64)
        return Stat(found.owner.astype(np.int64, copy=False), values)

    def floats(self, stat: str) -> Stat:
        """See `Host.floats`."""
        found = self._select(stat, _IS_NUMBER)
        signed = found.value.view(np.int64).astype(np.float64)
        number = np.where(found.kind == schema.STAT_INT64, signed, found.value.astype(np.float64))
        values = np.where(found.kind == schema.STAT_DOUBLE, found.value.view(np.float64), number)
        return Stat(found.owner.astype(np.int64, copy=False), values)

    def texts(self, stat: str) -> Stat:
        """See `Host.texts`."""
        found = self._select(stat, _IS_TEXT)
        refers = found.kind == schema.STAT_REF
        planes = self.plane[found.owner[refers]]
        codes = np.empty(found.owner.size, np.int64)
        codes[refers] = self.stat_metadata.rows(planes, found.value[refers].view(np.int64))
        codes[~refers], texts = _unique_texts(self.wire, found.value[~refers].view(np.int64))
        codes[~refers] += self.stat_metadata.names.size
        used, codes = np.unique(codes, return_inverse=True)
        merged, categories = pd.factorize(np.concatenate([self.stat_metadata.names, texts])[used])
        return Stat(found.owner.astype(np.int64, copy=False), merged[codes].astype(np.int32), categories)

    def of_row(self, row: int) -> dict[str, StatValue]:
        """See `Host.stats_of`."""
        at, metadata = self.begin[[row]].astype(np.int64), self.metadata[[row]]
        names, shared = self.stat_metadata, self.event_metadata
        own = read_stats(self.wire, at, at + self.size[[row]], schema.EVENT_STAT)
        common = read_stats(self.wire, shared.begin[metadata], shared.end[metadata], schema.METADATA_STAT)
        plane = int(self.plane[row])
        return python_values(self.wire, names, plane, common) | python_values(self.wire, names, plane, own)

    def names(self) -> list[str]:
        """See `Host.stat_names`."""
        used = self._of_events.columns.keys() | self._of_metadata.columns.keys()
        return [name for name in dict.fromkeys(self.stat_metadata.names) if name in used]

    def _select(self, stat: str, is_wanted: Bools) -> Column:
        """Return a stat of all rows that have it: their own, or else their metadata's.

        ``is_wanted`` says for each of the 256 tags whether values of that kind count.
        """
        own, shared = self._of_events.column(stat), self._of_metadata.column(stat)
        if shared.owner.size:
            place = np.full(self.event_metadata.names.size, -1)
            place[shared.owner] = np.arange(shared.owner.size)
            place = place[self.metadata]
            place[own.owner] = -1
            rows = np.flatnonzero(place >= 0)
            own = _joined([own, shared.take(place[rows])._replace(owner=rows)]).by_owner()
        wanted = is_wanted[own.kind]
        return own if wanted.all() else own.take(np.flatnonzero(wanted))

    @cached_property
    def _of_events(self) -> RowStats:
        marks = np.array([name.startswith(THREADPOOL_PREFIX) for name in self.event_metadata.names], bool)
        rows = np.flatnonzero((self.size > 0) & ~marks[self.metadata]).astype(np.int32)
        return self._read(rows, self.plane, self.begin, self.size, schema.EVENT_STAT)

    @cached_property
    def _of_metadata(self) -> RowStats:
        shared = self.event_metadata
        rows = np.arange(shared.plane.size, dtype=np.int32)
        return self._read(rows, shared.plane, shared.begin, shared.end - shared.begin, schema.METADATA_STAT)

    def _read(self, rows: Int32, plane: Ints, begin: Places, size: Ints, tag: int) -> RowStats:
        """Read all stats of some rows; they go by name, because ids differ between planes.

        ``plane``, ``begin`` and ``size`` have a value per row of the file, ``rows`` the rows to read.
        """
        names = dict.fromkeys(self.stat_metadata.names)
        code_of_name = {name: code for code, name in enumerate(names)}
        small = np.uint16 if len(names) < 1 << 16 else np.int32  # numpy sorts 16 bits in linear time
        code_of_row = np.array([code_of_name[name] for name in self.stat_metadata.names], small)
        parts = defaultdict[int, list[Column]](list)
        reading, count = np.empty(rows.size, np.int32), 0
        for first in range(0, rows.size, _BLOCK):
            block = rows[first : first + _BLOCK]
            alike = first_alike(begin[block].astype(np.uint64))
            is_first = alike == np.arange(alike.size)
            reading[first : first + _BLOCK] = (np.cumsum(is_first) + (count - 1))[alike]
            block = block[is_first]
            at, own = begin[block].astype(np.int64), plane[block]
            found = read_stats(self.wire, at, at + size[block], tag)
            planes = own[:1] if own.min() == own.max() else own[found.owner]
            codes = code_of_row[self.stat_metadata.rows(planes, found.key)]
            owner = (found.owner + count).astype(np.int32)
            by_code = Column(owner, found.kind, found.value).take(np.argsort(codes, kind="stable"))
            ends = np.cumsum(np.bincount(codes)).tolist()
            for code, span in enumerate(pairwise([0, *ends])):
                if span[0] < span[1]:
                    parts[code].append(by_code.take(slice(*span)).by_owner())
            count += block.size
        columns = {name: _joined(parts[code]) for code, name in enumerate(names) if code in parts}
        return RowStats(columns, rows, reading)


def _joined(parts: list[Column]) -> Column:
    return Column(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _unique_texts(wire: Wire, at: Int64) -> tuple[Int64, Objects]:
    """Return a code for each text field, by its position, and the text of each code.

    Texts of equal length are compared as rows of a matrix of bytes.
    """
    fields = wire.read(at)
    length = fields.value.view(np.int64)
    codes, texts = np.empty(at.size, np.int64), list[str]()
    for size in np.unique(length).tolist():
        here = np.flatnonzero(length == size)
        start = fields.start[here]
        if size:
            rows = np.lib.stride_tricks.sliding_window_view(wire.bytes, size)[start].view(f"S{size}")[:, 0]
            _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
        else:
            first, inverse = np.zeros(1, np.int64), np.zeros(here.size, np.int64)
        codes[here] = inverse + len(texts)
        texts += [wire.text(where, where + size) for where in start[first].tolist()]
    return codes, np.array(texts, dtype=object)
