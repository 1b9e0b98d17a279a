"""Change files a little: their bytes, or their structure, which stays well-formed."""

import copy
import gzip
import json
import struct

from builders import field

NUMBERS = [
    0,
    1,
    -1,
    2,
    7,
    127,
    128,
    2**15,
    2**16,
    2**28,
    2**31 - 1,
    2**31,
    2**32,
    2**40,
    2**53,
    2**56,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 1,
]
TEXTS = [
    "",
    "/",
    ":",
    "a" * 300,
    "/" * 300,
    "\0",
    "\x1b[31m",
    "\u202e",
    "<script>",
    "=1+1",
    "$x$",
    "é",
    "\ud7ff",
    "[",
    "(2,",
    "%a = f32[",
    "Iterator::",
    "size:",
    "::" * 40,
    "gradients/",
    "XLA Modules",
    "Steps",
    "/device:TPU:0",
    "/device:GPU:0",
    "/host:CPU",
    "MemoryAllocation",
    "train",
    "kind:H2D size:",
    "0x1",
    "-5",
    "1e999",
]
ODD = [
    "x",
    "",
    -1,
    2**63,
    -(2**70),
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    None,
    True,
    [],
    {},
    [[]],
    {"a": 1},
    10**6,
    0.5,
]
LONG = ["9" * 5000, "1e999", "-1e-999", "0." + "0" * 5000 + "1", "1" + "0" * 300]
"""Numbers that JSON allows, and that Python's own numbers are not written as."""
VALUES = [*ODD, *TEXTS]


def mutated(rng, kind, data):
    """Return a changed file; the same generator gives the same."""
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        structure = _message if kind in ("xspace", "metadata") else _json
        data = (structure if rng.random() < 0.8 else _bytes)(rng, data)
    return gzip.compress(data, mtime=0) if kind != "sidecar" and rng.random() < 0.02 else data


def _bytes(rng, data):
    broken = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(broken) + 1)
        what = rng.randrange(5)
        if what == 0:
            broken[at : at + 1] = bytes([rng.randrange(256)])
        elif what == 1:
            del broken[at : at + rng.choice([1, 2, 8, 100])]
        elif what == 2:
            broken[at:at] = rng.randbytes(rng.choice([1, 2, 8]))
        elif what == 3:
            other = rng.randrange(len(broken) + 1)
            broken[at:at] = broken[other : other + rng.choice([4, 30, 200])]
        else:
            del broken[at:]
    return bytes(broken)


def _json(rng, data):
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return _bytes(rng, data)
    content = copy.deepcopy(content)
    places = [place for place in _places(content) if place]
    if not places:
        return _bytes(rng, data)
    *above, key = rng.choice(places)
    holder = content
    for step in above:
        holder = holder[step]
    what = rng.randrange(4)
    if what == 0 and isinstance(holder, list):
        holder[key:key] = [copy.deepcopy(holder[key])] * rng.choice([1, 2, 50])
    elif what == 1:
        del holder[key]
    elif what == 2 and isinstance(holder[key], int | float):
        holder[key] = rng.choice(NUMBERS) * rng.choice([1, -1, 0.1])
    else:
        holder[key] = rng.choice(VALUES)
    text = json.dumps(content)
    return (text.replace(" 0", f" {rng.choice(LONG)}", 1) if rng.random() < 0.02 else text).encode()


def _places(value, above=()):
    yield above
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield from _places(one, (*above, key))


def _message(rng, data):
    fields = _parsed(data)
    if not fields:
        return _bytes(rng, data)
    holders = [fields, *_holders(fields)]
    holder = rng.choice(holders)
    place = rng.randrange(len(holder))
    number, value = holder[place]
    what = rng.randrange(7)
    if what == 0:
        holder[place:place] = [(number, value)] * rng.choice([1, 2, 50])
    elif what == 1:
        del holder[place]
    elif what == 2:
        holder[place] = (rng.randrange(1, 20), value)
    elif what == 3:
        holder.insert(place, rng.choice(rng.choice(holders) or holder))
    elif isinstance(value, int):
        holder[place] = (number, rng.choice([*NUMBERS, value + 1, value - 1, -value, value * 1000]))
    elif isinstance(value, float):
        holder[place] = (number, rng.choice([0.0, -1.0, 1e308, float("nan"), float("inf"), value * 2]))
    elif isinstance(value, bytes):
        holder[place] = (number, rng.choice(TEXTS).encode())
    else:
        holder[place] = (number, rng.choice([b"", rng.choice(NUMBERS), rng.choice(holders)]))
    try:
        return _written(fields, 40)
    except RecursionError:
        return data


def _holders(fields):
    for _, value in fields:
        if isinstance(value, list) and value:
            yield value
            yield from _holders(value)


def _written(fields, depth):
    """Return the bytes; a message that was put into itself ends at some depth."""
    parts = []
    for number, value in fields if depth else ():
        parts.append(field(number, _written(value, depth - 1) if isinstance(value, list) else value))
        if len(parts[-1]) > 100_000:
            raise RecursionError
    return b"".join(parts)


def _parsed(data, depth=0):
    """Return a message as pairs of number and value, in which messages are lists; None if it is none."""
    fields, at = [], 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if not number or number > 30 or kind not in (0, 1, 2, 5):
            return None
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 1:
            if at + 8 > len(data):
                return None
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 5:
            value, at = data[at : at + 4], at + 4
        else:
            length, at = _varint(data, at)
            part = data[at : at + length]
            at += length
            value = (_parsed(part, depth + 1) if depth < 8 and part else None) or part
        if at > len(data):
            return None
        fields.append((number, value))
    return fields


def _varint(data, at):
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            return 0, len(data) + 1
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            break
    return value, at
