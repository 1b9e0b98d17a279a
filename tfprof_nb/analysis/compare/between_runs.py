"""What repeated runs tell: whether they differ by chance, and an interval that holds their ratio.

Groups are compared by the Mann-Whitney U test, pairs by the t test of their logarithms; both are two-sided.
"""

import math
import sys
from collections.abc import Sequence
from functools import cache

import numpy as np

from tfprof_nb._arrays import Floats

SIGNIFICANCE = 0.05  # the usual level: a less likely difference counts as one
MIN_VALUES = 5  # measurements per group: fewer cannot tell a difference from chance
_TWO_SIDED = 1.959964  # standard deviations that a normal distribution exceeds at that level
_MAX_EXACT = 25  # measurements per group: for more, the normal approximation is as good
_BISECTIONS = 60  # to the last digit of a float


def took_turns(before_ns: Sequence[int], after_ns: Sequence[int]) -> bool:
    """Whether the runs of two sides alternated, from the moments when they began; False if one is unknown (0).

    Examples
    --------
    >>> took_turns([1, 4, 5], [2, 3, 6]), took_turns([1, 2, 3], [4, 5, 6])
    (True, False)
    """
    sides = [0] * len(before_ns) + [1] * len(after_ns)
    moments = [*before_ns, *after_ns]
    if min(moments) <= 0 or len(set(moments)) < len(moments):
        return False
    changes = np.diff(np.array(sides)[np.argsort(moments)])
    return int(np.count_nonzero(changes)) >= min(len(before_ns), len(after_ns))


def chance(before: Floats, after: Floats, *, in_turn: bool) -> float:
    """Return the probability of such a difference by chance; NaN with fewer than `MIN_VALUES` runs on a side.

    Runs that took turns are compared pair by pair (`paired_p_value`), others as groups (`p_value`).
    """
    return paired_p_value(before, after) if in_turn and can_be_paired(before, after) else p_value(before, after)


def ratio(before: Floats, after: Floats, *, in_turn: bool) -> float:
    """Return how many times smaller the values became: of pairs the median, else by the medians; NaN if unknown."""
    if in_turn and can_be_paired(before, after):
        return float(np.median(before / after))
    medians = float(np.median(before)), float(np.median(after))
    return medians[0] / medians[1] if medians[1] > 0 else math.nan


def ratio_interval(before: Floats, after: Floats, *, in_turn: bool = False) -> tuple[float, float]:
    """Return the 95% interval of how many times smaller the values became.

    Of runs that took turns it is that of the paired t test. Of others it is that of Hodges and Lehmann: the ratios for
    which the Mann-Whitney U test finds no difference. That holds for any distribution of the values, if each is a run
    of its own.

    Parameters
    ----------
    before, after
        One positive value per run, e.g. its time; their unit does not matter.
    in_turn
        Whether the runs took turns; the values then stand in the order of time.

    Returns
    -------
    tuple of float
        The lowest and the highest ratio; NaN with fewer than `MIN_VALUES` runs on a side, or if a value is zero.

    Examples
    --------
    >>> ratio_interval(np.array([20.0, 21, 22, 23, 24]), np.array([10.0, 10, 10, 10, 10]))
    (2.0, 2.4)
    """
    if min(len(before), len(after)) < MIN_VALUES or not ((before > 0).all() and (after > 0).all()):
        return math.nan, math.nan
    if in_turn and can_be_paired(before, after):
        return paired_interval(before, after)
    ratios = np.sort(np.divide.outer(before, after).ravel())
    left_out = critical(len(before), len(after))
    return float(ratios[left_out]), float(ratios[-1 - left_out])


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


def can_be_paired(one: Floats, other: Floats) -> bool:
    """Whether there are as many positive values on both sides, and enough of them."""
    return MIN_VALUES <= len(one) == len(other) and bool((one > 0).all() and (other > 0).all())


def paired_p_value(one: Floats, other: Floats) -> float:
    """Return the probability that pairs differ at least as much as these if only chance separates them.

    What disturbs both of a pair alike, such as a machine that becomes slower, does not count. The logarithms of the
    ratios are taken for normally distributed.

    Examples
    --------
    >>> paired_p_value(np.array([10, 20, 30, 40, 50.0]), np.array([10.1, 19.9, 30.2, 39.5, 50.3])) > 0.5
    True
    """
    mean, error = _mean_and_error(one, other)
    if not mean:
        return 1.0
    return max(1 - _within(abs(mean) / error, len(one) - 1), sys.float_info.min) if error else sys.float_info.min


def paired_interval(before: Floats, after: Floats) -> tuple[float, float]:
    """Return the 95% interval of how many times smaller the values became."""
    mean, error = _mean_and_error(before, after)
    reach = _quantile(len(before) - 1) * error
    return math.exp(mean - reach), math.exp(mean + reach)


def _mean_and_error(one: Floats, other: Floats) -> tuple[float, float]:
    logs = np.log(one / other)
    return float(logs.mean()), float(logs.std(ddof=1)) / math.sqrt(len(logs))


def _within(t: float, freedom: int) -> float:
    """Return the probability that a value of Student's distribution lies between -t and t.

    Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term = total = math.cos(angle) if odd else 1.0
    for k in range(2 + odd, freedom, 2):
        term *= (k - 1) / k * math.cos(angle) ** 2
        total += term
    if not odd:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + (math.sin(angle) * total if freedom > 1 else 0.0))


def _quantile(freedom: int) -> float:
    """Return the value that Student's distribution exceeds, on either side, as often as chance may."""
    low, high = 0.0, 1000.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 1 - SIGNIFICANCE else (low, middle)
    return high
