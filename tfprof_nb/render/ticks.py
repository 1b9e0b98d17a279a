"""The ticks of an axis: few, at round values. Shared by SVG, bqplot and text."""

import math

import numpy as np

from tfprof_nb._arrays import Floats
from tfprof_nb._units import number

_FEW = 20


def ticks(low: float, high: float, limit: int = 5) -> list[float]:
    """Return at most ``limit`` + 1 round values from ``low`` to ``high``.

    Examples
    --------
    >>> ticks(0, 71.2)
    [0.0, 20.0, 40.0, 60.0]
    >>> ticks(0, 0)
    [0.0]
    """
    if not high > low:
        return [low + 0.0]
    step = _round_step((high - low) / limit)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def whole_ticks(low: float, high: float, limit: int = 6) -> list[float]:
    """Return :func:`ticks` at whole numbers only, for counts.

    Examples
    --------
    >>> whole_ticks(0, 3)
    [0.0, 1.0, 2.0, 3.0]
    """
    return [tick for tick in ticks(low, high, limit) if tick == round(tick)]


def ticks_of(x: Floats) -> list[float]:
    """Return the ticks of an axis for some values: at whole numbers where these number a few things, such as runs.

    Examples
    --------
    >>> ticks_of(np.array([1.0, 2.0, 3.0])), ticks_of(np.array([0.5, 3.0]))
    ([1.0, 2.0, 3.0], [0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
    """
    counted = len(x) <= _FEW and bool((x == np.round(x)).all())
    return (whole_ticks if counted else ticks)(float(x.min()), float(x.max()))


def tick_text(value: float) -> str:
    """Write a tick's value; whole numbers have no decimals.

    Examples
    --------
    >>> tick_text(2.50), tick_text(2100.4), tick_text(20.0)
    ('2.5', '2,100', '20')
    """
    text = number(value)
    return f"{value:,.0f}" if value == round(value) else text.rstrip("0").rstrip(".") if "." in text else text


def _round_step(raw: float) -> float:
    """Return the smallest of 1, 2, 5 and 10 times a power of ten that is at least ``raw``."""
    size = 10.0 ** math.floor(math.log10(raw))
    return next(size * k for k in (1, 2, 5, 10) if size * k >= raw * (1 - 1e-9))
