"""Protobuf's wire format, field by field."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from builders import field, varint
from tfprof_nb import BadProfileError
from tfprof_nb.decode.lanes import find_fields
from tfprof_nb.decode.wire import Wire

EDGES = sorted({value + step for bit in range(65) for value in [2**bit] for step in (-1, 0, 1) if value + step < 2**64})


@pytest.mark.parametrize("after", [b"", b"\xff" * 9, b"\0" * 9])
def test_numbers_of_every_length(after):
    encoded = [field(1, value) for value in EDGES]
    data = b"".join(one + after for one in encoded)
    at = np.cumsum([0, *(len(one) + len(after) for one in encoded)])[:-1]
    fields = Wire(data, "x").read(at)
    assert fields.value.tolist() == EDGES
    assert (fields.tag == 8).all()
    assert (fields.stop - at).tolist() == [len(one) for one in encoded]


@pytest.mark.parametrize("number", [1, 15, 16, 2047, 2**29 - 1])
def test_field_numbers_and_wire_types(number):
    parts = [field(number, 300), field(number, 1.5), field(number, b"abc"), varint(number << 3 | 5) + b"\1\0\0\0"]
    wire = Wire(b"".join(parts), "x")
    fields = wire.read(wire.chain(0, wire.size))
    assert fields.value.tolist() == [300, int(np.float64(1.5).view(np.uint64)), 3, 1]
    assert fields.tag.tolist() == (
        [number << 3, number << 3 | 1, number << 3 | 2, number << 3 | 5] if number < 16 else [0] * 4
    )
    assert wire.text(int(fields.start[2]), int(fields.stop[2])) == "abc"


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a",
        b"\x0a\x05abcd",
        b"\x08",
        b"\x08\x80",
        b"\x09" + b"x" * 7,
        b"\x0d\0\0\0",
        b"\x08" + b"\x80" * 10 + b"\0",
        b"\x0b",
        b"\x0c",
        b"\x0e\0",
        b"\x0f\0",
        b"\x00\x01",
        b"\x0a" + varint(2**64 - 1),
        b"\x0a" + varint(2**63),
        varint(2**32 | 8) + b"\0",
    ],
)
def test_what_is_no_field_is_refused_by_every_reader(data):
    wire = Wire(data, "x")
    begin, end = np.array([0]), np.array([wire.size])
    for reader in (
        lambda: wire.chain(0, wire.size),
        lambda: list(wire.walk(begin, end)),
        lambda: find_fields(wire, begin, end),
    ):
        with pytest.raises(BadProfileError, match=r"x: .* byte 0 of"):
            reader()


@pytest.mark.parametrize("seed", range(5))
def test_lanes_find_the_fields_that_one_loop_finds(seed):
    random = Random(seed)
    hostile = [b"\x22\x03\x08\x01\x18", b"\x22\x02\x08", b"\x08", bytes(300), b"\x22\x90\x01\x08" * 40]
    parts = [field(4, field(1, 5) + random.choice(hostile) * random.randrange(90)) for _ in range(3000)]
    cuts = [0, 0, 1000, 1001, 3000]
    messages = [b"".join(parts[a:b]) for a, b in pairwise(cuts)]
    edges = np.cumsum([3, *(len(one) for one in messages)])
    wire = Wire(b"\xff" * 3 + b"".join(messages), "x")
    expected = np.concatenate([wire.chain(a, b) for a, b in pairwise(edges.tolist())])
    assert find_fields(wire, edges[:-1], edges[1:]).tolist() == expected.tolist()
    assert expected.size == 3000


def test_lanes_refuse_a_broken_end():
    data = field(4, field(1, 5)) * 3000 + b"\x22\x05"
    with pytest.raises(BadProfileError, match=r"byte 12000 of 12002"):
        find_fields(Wire(data, "x"), np.array([0]), np.array([len(data)]))
