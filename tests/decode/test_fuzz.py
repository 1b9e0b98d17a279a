"""Random files: what protobuf reads we read alike, and what is damaged is refused, never misread in another way."""

import contextlib

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import field, varint
from decode import oracle
from tfprof_nb import BadProfileError
from tfprof_nb.decode import read_xspace

SOME = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def overlong(value):
    """A varint with a needless last byte, as protobuf allows."""
    encoded = varint(value)
    return encoded[:-1] + bytes([encoded[-1] | 0x80, 0]) if len(encoded) < 9 else encoded


def numbers(number, values):
    return values.map(lambda value: field(number, value)) | values.map(
        lambda value: varint(number << 3) + overlong(value)
    )


def nested(number, payloads):
    return payloads.map(lambda payload: field(number, payload))


def message(*fields, size=6):
    """Fields of any number and order; the last of a kind counts."""
    return st.lists(st.one_of(*fields, unknown), max_size=size).map(b"".join)


anything = st.integers(-(2**63), 2**64 - 1) | st.sampled_from([0, 127, 128, 2**28, 2**49 - 1, 2**49, 2**56, 2**63])
times = st.integers(0, 2**60) | st.integers(0, 3)
ids = st.integers(-1, 5)
texts = st.text(max_size=6) | st.sampled_from(['"\x08', '"\x02\x08\x01', '"\x05\x08\x01"\x01\x08']).map(
    lambda t: t * 40
)
unknown = st.one_of(
    st.builds(lambda n, raw: varint(n << 3 | 5) + raw, st.integers(1, 3000), st.binary(min_size=4, max_size=4)),
    st.builds(lambda n, value: varint(n << 3) + varint(value), st.integers(12, 3000), anything),
    st.builds(field, st.integers(12, 3000), st.binary(max_size=200)),
)
stat = message(
    numbers(1, ids),
    st.floats(allow_nan=False).map(lambda value: field(2, value)),
    numbers(3, anything),
    numbers(4, anything),
    nested(5, texts),
    nested(6, st.binary(max_size=9)),
    numbers(7, ids),
    size=3,
)
event = message(
    numbers(1, ids), numbers(2, times), numbers(3, times), nested(4, stat), nested(4, stat), numbers(5, times)
)
line = message(*[nested(4, event)] * 6, numbers(1, ids), nested(2, texts), numbers(10, ids), nested(11, texts), size=40)


def entry(number, value):
    return st.builds(lambda key, body: field(number, field(1, key) + field(2, body)), ids, value)


def spaces(timestamps):
    stamped = st.builds(lambda body, timestamp_ns: body + field(3, timestamp_ns), line, timestamps)
    plane = message(
        nested(2, texts),
        nested(3, stamped),
        entry(4, message(nested(2, texts), nested(4, texts), nested(5, stat))),
        entry(5, message(nested(2, texts))),
        nested(6, stat),
        size=12,
    )
    return st.lists(nested(1, plane), min_size=1, max_size=3).map(b"".join)


since_1970 = st.integers(1_700_000_000 * 10**9, 1_700_000_009 * 10**9)
space = spaces(st.integers(-(10**9), 10**9)) | spaces(since_1970)


def bulk(host):
    """Every stat of every row, through the columns."""
    found = [{} for _ in range(len(host))]
    for name in {name for row in range(len(host)) for name in host.stats_of(row)}:
        for column in (host.ints(name), host.texts(name)):
            values = column.values if column.categories is None else column.categories[column.values]
            for row, value in zip(column.rows.tolist(), values.tolist(), strict=True):
                assert name not in found[row]
                found[row][name] = value
    return found


@SOME
@given(space)
def test_random_spaces_read_as_protobuf_reads_them(data):
    host = read_xspace(data, "x")
    rows = oracle.rows(data)
    assert oracle.host_rows(host) == rows
    for found, (*_, stats) in zip(bulk(host), rows, strict=True):
        expected = {name: value for name, value in stats.items() if not isinstance(value, bytes)}
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            if isinstance(value, str):
                assert found[name] == value
            elif abs(value) < 2**63 or isinstance(value, int):
                assert found[name] == oracle.as_int64(int(value))


@SOME
@given(space, st.data())
def test_damaged_files_are_read_or_refused(data, draw):
    broken = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 3))):
        at = draw.draw(st.integers(0, max(0, len(broken) - 1)))
        broken[at : at + draw.draw(st.integers(0, 2))] = draw.draw(st.binary(max_size=2))
    only_refused(bytes(broken))


@SOME
@given(st.binary(max_size=400))
def test_random_bytes_are_read_or_refused(data):
    only_refused(data)


def only_refused(data):
    """Any other error fails the test."""
    with contextlib.suppress(BadProfileError):
        host = read_xspace(data, "x")
        oracle.host_rows(host)
        bulk(host)
