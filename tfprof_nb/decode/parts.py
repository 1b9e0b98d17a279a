"""The fields of several messages as columns, each with the number of its message."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb.decode.wire import Fields, Wire


class Parts(NamedTuple):
    """Fields in the order of the file; ``owner`` is the number of the message that each belongs to."""

    owner: npt.NDArray[Any]
    fields: Fields

    def where(self, tag: int) -> Parts:
        """Return the fields with this tag."""
        index = np.flatnonzero(self.fields.tag == tag)
        return Parts(self.owner[index], self.fields.take(index))

    def numbers(self, tag: int, messages: int) -> Int64:
        """Return for each of ``messages`` the number in its last field with a tag; 0 if there is none."""
        owner, fields = self.where(tag)
        numbers = np.zeros(messages, np.int64)
        numbers[owner] = fields.value.view(np.int64)
        return numbers

    def texts(self, tag: int, messages: int, wire: Wire) -> Objects:
        """Return for each of ``messages`` the text in its last field with a tag; empty if there is none."""
        owner, fields = self.where(tag)
        texts = np.full(messages, "", object)
        texts[owner] = np.array(read_texts(wire, fields), object)
        return texts


def read_parts(wire: Wire, messages: Fields) -> Parts:
    """Return all fields of a few messages."""
    places = [wire.chain(*span) for span in zip(messages.start.tolist(), messages.stop.tolist(), strict=True)]
    owner = np.repeat(np.arange(len(places)), [place.size for place in places])
    return Parts(owner, wire.read(np.concatenate([np.empty(0, np.int64), *places])))


def read_texts(wire: Wire, fields: Fields) -> list[str]:
    """Return the text of each field."""
    return [wire.text(start, stop) for start, stop in zip(fields.start.tolist(), fields.stop.tolist(), strict=True)]
