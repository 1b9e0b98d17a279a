"""Names by id: each plane maps ids to event metadata, and ids to stat metadata."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb.decode.parts import Parts, read_texts
from tfprof_nb.decode.schema import ENTRY_KEY, ENTRY_VALUE, METADATA_NAME
from tfprof_nb.decode.wire import Wire


class Metadata:
    """The entries of one kind in all planes, one row each, and a last row for ids without an entry.

    Attributes
    ----------
    names
        The name of each row.
    plane
        The plane of each row except the last.
    begin, end
        The first position of each row's message in the file, and the position after it.
    """

    def __init__(self, wire: Wire, entries: Parts) -> None:
        key, value = wire.last(entries.fields.start, entries.fields.stop, ENTRY_KEY, ENTRY_VALUE)
        self.plane = entries.owner
        self.begin, self.end = np.append(value.start, 0), np.append(value.stop, 0)
        self.names = self.texts(wire, METADATA_NAME)
        self._ids = key.value.view(np.int64)
        self._finders: dict[int, _Finder] = {}

    def texts(self, wire: Wire, tag: int) -> Objects:
        """Return a text field of each row; empty if there is none."""
        (field,) = wire.last(self.begin, self.end, tag)
        return np.array(read_texts(wire, field), dtype=object)

    def rows(self, plane: npt.NDArray[np.integer], ids: Int64) -> Int64:
        """Return the row of each id of a plane."""
        if plane.size and plane.min() == plane.max():
            return self._finder(int(plane[0])).find(ids)
        rows = np.empty(ids.size, np.int64)
        for number in np.unique(plane).tolist():
            here = np.flatnonzero(plane == number)
            rows[here] = self._finder(number).find(ids[here])
        return rows

    def _finder(self, plane: int) -> _Finder:
        if plane not in self._finders:
            first, last = np.searchsorted(self.plane, [plane, plane + 1])
            self._finders[plane] = _Finder(self._ids[first:last], int(first), self._ids.size)
        return self._finders[plane]


class _Finder:
    """Finds the rows of ids: in a table if all ids are small, as they usually are, or else by bisection.

    The id at index i has row ``first + i``; other ids have row ``missing``.
    """

    def __init__(self, ids: Int64, first: int, missing: int) -> None:
        order = np.argsort(ids, kind="stable")
        self._ids, self._rows, self._missing = ids[order], first + order, missing
        self._table: Int64 | None = None
        if ids.size and self._ids[0] >= 0 and self._ids[-1] < 8 * ids.size + 1024:
            self._table = np.full(self._ids[-1] + 2, missing)
            self._table[self._ids] = self._rows

    def find(self, ids: Int64) -> Int64:
        if self._table is not None:
            beyond = np.uint64(self._table.size - 1)
            return self._table[np.minimum(ids.view(np.uint64), beyond)]
        if not self._ids.size:
            return np.full(ids.size, self._missing)
        # The last of equal ids counts, as in protobuf's maps.
        at = np.maximum(np.searchsorted(self._ids, ids, "right") - 1, 0)
        return np.where(self._ids[at] == ids, self._rows[at], self._missing)
