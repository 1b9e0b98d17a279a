"""Write XSpace profiles in a few lines, for tests, and read them.

    space = XSpace()
    cpu = space.plane("/host:CPU")
    python = cpu.line("python")
    python.event("train", start_us=0, duration_us=100, step_num=1, _r=1)
    python.event("MatMul:MatMul", start_us=10, duration_us=20, shape="(2,3)", flow=Uint(7), cost=0.5)
    cpu.describe("MatMul:MatMul", display_name="MatMul", flops=12)
    space.to_bytes()                      # or space.write(folder / "machine.xplane.pb")
    forest(space)                         # decoded, ready for analyses

Keyword arguments that are no parameter are stats; a name with spaces goes in as ``**{"level 0": "a:B"}``. The type
of a value chooses its field: int (bool too) int64, and uint64 from 2**63 on; `Uint` uint64; float double; str text;
`Ref` text by reference; bytes bytes. Nothing is sorted: events stand in the file in the order of adding.

The bytes are written by hand, without protobuf, so that a test of the reader never tests one library against itself.
"""

from __future__ import annotations

import struct
from pathlib import Path

from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.decode import read_xspace

Value = float | str | bytes

PS_PER_US = 10**6
PS_PER_MS = 10**9


class Uint(int):
    """A stat value to be written as uint64."""


class Ref(str):
    """A text stat to be written as a reference to an entry of the plane's stat metadata."""

    __slots__ = ()


def varint(value: int) -> bytes:
    """Encode a whole number, a negative one as its 64-bit two's complement (ten bytes)."""
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: Value) -> bytes:
    """Encode one protobuf field: ints as varints, floats as doubles, str and bytes with their length."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    payload = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def optional(number: int, value: int | str) -> bytes:
    """Encode a field unless it has its default value, as protobuf does."""
    return field(number, value) if value else b""


class XSpace:
    """One host's profile. ``errors`` and ``warnings`` are lists to append to."""

    def __init__(self, hostname: str = "") -> None:
        self.planes: list[Plane] = []
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self.hostname = hostname

    def plane(self, name: str, /, **stats: Value) -> Plane:
        """Add a plane, say ``/host:CPU`` or ``/device:GPU:0``, with stats of its own."""
        self.planes.append(Plane(len(self.planes) + 1, name, stats))
        return self.planes[-1]

    def to_bytes(self) -> bytes:
        """Return the file's bytes."""
        planes = b"".join(field(1, plane.to_bytes()) for plane in self.planes)
        messages = b"".join(field(2, text) for text in self.errors) + b"".join(field(3, text) for text in self.warnings)
        return planes + messages + optional(4, self.hostname)

    def write(self, path: Path) -> Path:
        """Write the file, with the folders above it, and return its path."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.to_bytes())
        return path


class Plane:
    """One plane of an `XSpace`; made by `XSpace.plane`."""

    def __init__(self, plane_id: int, name: str, stats: dict[str, Value]) -> None:
        self.id = plane_id
        self.name = name
        self.lines: list[Line] = []
        self.event_ids: dict[str, int] = {}
        self.stat_ids: dict[str, int] = {}
        self.descriptions: dict[str, bytes] = {}
        self.stats = self.encode_stats(6, stats)

    def line(
        self,
        name: str,
        *,
        line_id: int | None = None,
        timestamp_ns: int = 0,
        display_id: int = 0,
        display_name: str = "",
    ) -> Line:
        """Add a thread or stream; its events start relative to ``timestamp_ns``. Ids count from 1 when not given."""
        header = (
            optional(1, len(self.lines) + 1 if line_id is None else line_id)
            + optional(2, name)
            + optional(3, timestamp_ns)
        )
        self.lines.append(Line(self, header, optional(10, display_id) + optional(11, display_name)))
        return self.lines[-1]

    def describe(self, name: str, /, *, display_name: str = "", **stats: Value) -> None:
        """Give all events of this name a short name and stats in common (they stand on the event's metadata)."""
        self.event_id(name)
        self.descriptions[name] = optional(4, display_name) + self.encode_stats(5, stats)

    def event_id(self, name: str) -> int:
        """Return the metadata id of an event name."""
        return self.event_ids.setdefault(name, len(self.event_ids) + 1)

    def stat_id(self, name: str) -> int:
        """Return the metadata id of a stat name or of a text that is referred to."""
        return self.stat_ids.setdefault(name, len(self.stat_ids) + 1)

    def encode_stats(self, number: int, stats: dict[str, Value]) -> bytes:
        """Encode stats as fields with the given number."""
        return b"".join(field(number, self._stat(name, value)) for name, value in stats.items())

    def _stat(self, name: str, value: Value) -> bytes:
        key = field(1, self.stat_id(name))
        if isinstance(value, Ref):
            return key + field(7, self.stat_id(str(value)))
        if isinstance(value, int):
            return key + field(3 if isinstance(value, Uint) or value >= 2**63 else 4, int(value))
        return key + field({float: 2, str: 5, bytes: 6}[type(value)], value)

    def to_bytes(self) -> bytes:
        """Return the plane's message."""
        lines = b"".join(field(3, line.to_bytes()) for line in self.lines)
        events = b"".join(
            field(4, field(1, key) + field(2, field(1, key) + field(2, name) + self.descriptions.get(name, b"")))
            for name, key in self.event_ids.items()
        )
        stats = b"".join(
            field(5, field(1, key) + field(2, field(1, key) + field(2, name))) for name, key in self.stat_ids.items()
        )
        return field(1, self.id) + field(2, self.name) + lines + events + stats + self.stats


class Line:
    """One line of a `Plane`; made by `Plane.line`."""

    def __init__(self, plane: Plane, header: bytes, trailer: bytes) -> None:
        self.plane = plane
        self.header = header
        self.trailer = trailer
        self.events = bytearray()

    def event(
        self,
        name: str,
        /,
        *,
        start_ps: int = 0,
        start_us: float = 0,
        start_ms: float = 0,
        duration_ps: int = 0,
        duration_us: float = 0,
        duration_ms: float = 0,
        num_occurrences: int | None = None,
        **stats: Value,
    ) -> None:
        """Add an event; times in several units add up. ``num_occurrences`` makes it an aggregate without a start."""
        start = start_ps + round(start_us * PS_PER_US) + round(start_ms * PS_PER_MS)
        duration = duration_ps + round(duration_us * PS_PER_US) + round(duration_ms * PS_PER_MS)
        place = field(2, start) if num_occurrences is None else field(5, num_occurrences)
        body = field(1, self.plane.event_id(name)) + place + optional(3, duration)
        self.events += field(4, body + self.plane.encode_stats(4, stats))

    def to_bytes(self) -> bytes:
        """Return the line's message."""
        return self.header + bytes(self.events) + self.trailer


def forest(profile: XSpace | bytes, name: str = "host") -> Forest:
    """Return a profile's events as analyses take them; ``profile`` is a built one, or a file's content."""
    content = profile if isinstance(profile, bytes) else profile.to_bytes()
    return Forest(read_xspace(content, name))
