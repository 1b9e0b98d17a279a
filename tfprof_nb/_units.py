"""Units of time, and numbers as text: three significant figures, thousands separators, a unit."""

import math
import re
from typing import Any, Literal

Kind = Literal["text", "code", "count", "s", "ms", "us", "bytes", "flops", "share", "percent", "number", "flag"]

# Times are whole picoseconds in profiles and nanoseconds in sidecars; in frames, the columns' names have the unit.
PS_PER_NS, PS_PER_US, PS_PER_MS, PS_PER_S = 10**3, 10**6, 10**9, 10**12
NS_PER_MS, US_PER_MS = 10**6, 10**3

MISSING = "–"
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_NUMERIC: frozenset[Kind] = frozenset({"count", "s", "ms", "us", "bytes", "flops", "share", "percent", "number"})
_TIME_UNITS = ((PS_PER_S, "s"), (PS_PER_MS, "ms"), (PS_PER_US, "µs"), (PS_PER_NS, "ns"), (1, "ps"))


def number(value: float) -> str:
    """Write a number with three significant figures, and all digits before the point.

    Examples
    --------
    >>> [number(v) for v in (0, 0.012345, 1.5, 71.24, 999.6, 1234.5, 1234567, -2.5)]
    ['0', '0.0123', '1.50', '71.2', '1,000', '1,234', '1,234,567', '-2.50']
    >>> number(1e-7), number(float("nan"))
    ('1.00e-07', '–')
    """
    if not math.isfinite(value):
        return MISSING
    if value == 0:
        return "0"
    size = abs(value)
    if size < 1e-4:
        return f"{value:.2e}"
    # Rounding first: 9.996 is 10.0, not 10.00.
    digits = math.floor(math.log10(float(f"{size:.2e}")))
    return f"{value:,.{max(0, 2 - digits)}f}"


def count(value: float) -> str:
    """Write a whole number.

    Examples
    --------
    >>> count(1234567)
    '1,234,567'
    """
    return f"{round(value):,}" if math.isfinite(value) else MISSING


def percent(value: float) -> str:
    """Write a percentage (0 to 100) with one decimal; a value above zero is never written as zero.

    Examples
    --------
    >>> [percent(v) for v in (0, 0.004, 7.25, 71.2, 100)]
    ['0%', '<0.1%', '7.2%', '71.2%', '100%']
    """
    if not math.isfinite(value):
        return MISSING
    if 0 < value < 0.05:
        return "<0.1%"
    return f"{int(value)}%" if value in (0, 100) else f"{value:,.1f}%"


def share(value: float) -> str:
    """Write a share (0 to 1) as a percentage.

    Examples
    --------
    >>> share(0.712)
    '71.2%'
    """
    return percent(value * 100)


def size(value: float) -> str:
    """Write a number of bytes in binary units.

    Examples
    --------
    >>> [size(v) for v in (0, 1023, 1024, 1536, 3 * 2**30, -2048)]
    ['0 B', '1,023 B', '1.00 KiB', '1.50 KiB', '3.00 GiB', '-2.00 KiB']
    """
    if not math.isfinite(value):
        return MISSING
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{number(value)} {unit}"
        value /= 1024
    return f"{number(value)} TiB"


def float_ops(value: float) -> str:
    """Write a number of floating-point operations.

    Examples
    --------
    >>> [float_ops(v) for v in (0, 512, 2_376_000_000)]
    ['0 FLOP', '512 FLOP', '2.38 GFLOP']
    """
    if not math.isfinite(value):
        return MISSING
    for prefix in ("", "k", "M", "G", "T"):
        if abs(value) < 1000:
            return f"{number(value)} {prefix}FLOP"
        value /= 1000
    return f"{number(value)} PFLOP"


def duration(ps: float) -> str:
    """Write a time given in picoseconds, in a suitable unit.

    Examples
    --------
    >>> [duration(v) for v in (0, 800, 71.2e9, 2.9e12, 3600e12)]
    ['0 s', '800 ps', '71.2 ms', '2.90 s', '3,600 s']
    """
    if not math.isfinite(ps):
        return MISSING
    for scale, unit in _TIME_UNITS:
        if float(f"{abs(ps) / scale:.2e}") >= 1:  # as it is written: 999.6 µs are 1.00 ms
            return f"{number(ps / scale)} {unit}"
    return "0 s"


def milliseconds(ms: float) -> str:
    """Write a time given in milliseconds, in a suitable unit.

    Examples
    --------
    >>> milliseconds(0.25), milliseconds(1500)
    ('250 µs', '1.50 s')
    """
    return duration(ms * PS_PER_MS)


def microseconds(us: float) -> str:
    """Write a time given in microseconds, in a suitable unit.

    Examples
    --------
    >>> microseconds(71200)
    '71.2 ms'
    """
    return duration(us * PS_PER_US)


def seconds(value: float) -> str:
    """Write a time given in seconds, in a suitable unit.

    Examples
    --------
    >>> seconds(0.0712)
    '71.2 ms'
    """
    return duration(value * PS_PER_S)


def axis_unit(ms: float) -> tuple[Kind, str, float]:
    """Return the unit for an axis of times such as this one: its kind, its symbol, and how many are a millisecond.

    Examples
    --------
    >>> axis_unit(13_300), axis_unit(71.2), axis_unit(0.25)
    (('s', 's', 0.001), ('ms', 'ms', 1.0), ('us', 'µs', 1000.0))
    """
    if ms >= 1000:
        return "s", "s", 1e-3
    return ("us", "µs", 1e3) if 0 < ms < 1 else ("ms", "ms", 1.0)


def is_numeric(kind: Kind) -> bool:
    """Whether values of this kind are numbers, which tables align right."""
    return kind in _NUMERIC


def cell(value: Any, kind: Kind) -> str:
    """Write one value with its unit.

    Examples
    --------
    >>> cell(1234.5, "us"), cell(0.712, "share"), cell(2048, "bytes"), cell(True, "flag"), cell(None, "flag")
    ('1.23 ms', '71.2%', '2.00 KiB', 'yes', '–')
    """
    if value is None:
        return MISSING
    if kind in ("text", "code"):
        return str(value)
    if kind == "flag":
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        value = float(value)
    return _CELL_WRITERS.get(kind, number)(value)


def printable(text: str) -> str:
    r"""Remove what XML and terminals do not accept, and what reverses the order of text.

    That is control characters except line breaks and tabs, halves of surrogate pairs, and directional overrides.

    Examples
    --------
    >>> printable("a\x1b[31m\x00b\ud800\n")
    'a[31mb\n'
    """
    return _UNPRINTABLE.sub("", text)


def shorten(text: str, limit: int) -> str:
    """Cut the middle out of a long text: op names and paths differ at both ends.

    Examples
    --------
    >>> shorten("model/block_1/conv2d/Relu", 15)
    'model/b…2d/Relu'
    """
    if len(text) <= limit:
        return text
    head = limit // 2
    return f"{text[:head]}…{text[len(text) - (limit - head - 1) :]}"


_CELL_WRITERS = {
    "count": count,
    "s": seconds,
    "ms": milliseconds,
    "us": microseconds,
    "bytes": size,
    "flops": float_ops,
    "share": share,
    "percent": percent,
}
