"""Whether measurements that took turns differ by more than chance explains: the paired t test of their logarithms."""

import math
import sys

import numpy as np

from tfprof_nb._arrays import Floats
from tfprof_nb.analysis.compare.mann_whitney import MIN_VALUES, SIGNIFICANCE

_BISECTIONS = 60  # to the last digit of a float


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
