"""Whether two groups of measurements differ by more than chance: the Mann-Whitney U test, two-sided."""

from __future__ import annotations

import math
import sys
from functools import cache

import numpy as np

from tfprof_nb._arrays import Floats

ENOUGH = 5  # measurements per group, below which no difference is told from chance
_EXACT_UP_TO = 25  # measurements per group: beyond, the normal approximation is as good


def p_value(one: Floats, other: Floats) -> float:
    """Return how likely two groups differ at least as much as these do if nothing but chance sets them apart.

    The test looks at the order of the values alone, so outliers count no more than others: half of the
    probability is that the first group ranks so high, half that it ranks so low. It takes the values for
    independent, which steps of one run are not quite: read small differences with care.

    Parameters
    ----------
    one, other
        The measurements, e.g. step times; their unit does not matter.

    Returns
    -------
    float
        0 to 1; NaN where a group has fewer than `ENOUGH` values. Exact for small groups without equal values, else by
        the normal approximation with corrections for ties and continuity.

    Examples
    --------
    >>> p_value(np.arange(5.0), np.arange(5.0) + 5)
    0.007936507936507936
    """
    if min(len(one), len(other)) < ENOUGH:
        return math.nan
    values = np.concatenate([one, other])
    _, rank, ties = np.unique(values, return_inverse=True, return_counts=True)
    mid_rank = np.cumsum(ties) - (ties - 1) / 2
    u = float(mid_rank[rank[: len(one)]].sum() - len(one) * (len(one) + 1) / 2)
    u = min(u, len(one) * len(other) - u)
    if len(ties) == len(values) and max(len(one), len(other)) <= _EXACT_UP_TO:
        return min(1.0, 2 * _exact(round(u), len(one), len(other)))
    return _approximate(u, len(one), len(other), ties.astype(np.float64))


def _exact(u: int, first: int, second: int) -> float:
    """The probability of a U of at most ``u``, all orders being equally likely."""
    return sum(_orders(first, second)[: u + 1]) / math.comb(first + second, first)


@cache
def _orders(first: int, second: int) -> list[int]:
    """How many orders of the values give U = 0, 1, 2, ...: the highest value is of the one group or of the other."""
    if not first or not second:
        return [1]
    counts = [0] * (first * second + 1)
    for highest_of_first, orders in ((True, _orders(first - 1, second)), (False, _orders(first, second - 1))):
        shift = second if highest_of_first else 0
        for at, ways in enumerate(orders):
            counts[at + shift] += ways
    return counts


def _approximate(u: float, first: int, second: int, ties: Floats) -> float:
    count = first + second
    variance = first * second / 12 * (count + 1 - float((ties**3 - ties).sum()) / (count * (count - 1)))
    if variance <= 0:  # all values are equal
        return 1.0
    z = (first * second / 2 - u - 0.5) / math.sqrt(variance)
    # Of many values it can be too small for a float, but never nothing.
    return max(min(1.0, math.erfc(max(z, 0.0) / math.sqrt(2))), sys.float_info.min)
