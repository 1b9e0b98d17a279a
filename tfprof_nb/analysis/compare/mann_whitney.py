"""Whether two groups of measurements differ by more than chance explains: the Mann-Whitney U test, two-sided."""

import math
import sys
from functools import cache

import numpy as np

from tfprof_nb._arrays import Floats

SIGNIFICANCE = 0.05  # the usual level: a less likely difference counts as one
MIN_VALUES = 5  # measurements per group: fewer cannot tell a difference from chance
_TWO_SIDED = 1.959964  # standard deviations that a normal distribution exceeds at that level
_MAX_EXACT = 25  # measurements per group: for more, the normal approximation is as good


def p_value(one: Floats, other: Floats) -> float:
    """Return the probability that two groups differ at least as much as these if only chance separates them.

    The test uses only the order of the values, so outliers count no more than others: half of the probability is that
    the first group ranks so high, half that it ranks so low. It assumes independent values, which the steps of one run
    are not quite: interpret small differences with care.

    Parameters
    ----------
    one, other
        The measurements, e.g. step times; their unit does not matter.

    Returns
    -------
    float
        0 to 1; NaN if a group has fewer than `MIN_VALUES` values. Exact for small groups without equal values, else by
        the normal approximation with corrections for ties and continuity.

    Examples
    --------
    >>> p_value(np.arange(5.0), np.arange(5.0) + 5)
    0.007936507936507936
    """
    if min(len(one), len(other)) < MIN_VALUES:
        return math.nan
    values = np.concatenate([one, other])
    _, rank, ties = np.unique(values, return_inverse=True, return_counts=True)
    mid_rank = np.cumsum(ties) - (ties - 1) / 2
    u = float(mid_rank[rank[: len(one)]].sum() - len(one) * (len(one) + 1) / 2)
    u = min(u, len(one) * len(other) - u)
    if len(ties) == len(values) and max(len(one), len(other)) <= _MAX_EXACT:
        return min(1.0, 2 * _exact(round(u), len(one), len(other)))
    return _approximate(u, len(one), len(other), ties.astype(np.float64))


def critical(first: int, second: int) -> int:
    """Return the largest U of groups of these sizes that is significant, -1 if none is."""
    if max(first, second) > _MAX_EXACT:
        deviation = math.sqrt(first * second * (first + second + 1) / 12)
        return math.floor(first * second / 2 - 0.5 - _TWO_SIDED * deviation)
    chances = np.cumsum(_orders(first, second)) * (2 / math.comb(first + second, first))
    return int(np.searchsorted(chances, SIGNIFICANCE)) - 1


def _exact(u: int, first: int, second: int) -> float:
    """Return the probability of a U of at most ``u`` if all orders are equally likely."""
    return sum(_orders(first, second)[: u + 1]) / math.comb(first + second, first)


@cache
def _orders(first: int, second: int) -> list[int]:
    """Return how many orders of the values give U = 0, 1, 2, ...; the highest value is in one group or in the other."""
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
    # With many values it can be too small for a float, but it is never zero.
    return max(min(1.0, math.erfc(max(z, 0.0) / math.sqrt(2))), sys.float_info.min)
