"""What repeated runs tell about a ratio: an interval that holds it, by the test whose probability stands beside it."""

from __future__ import annotations

import math

import numpy as np

from tfprof_nb._arrays import Floats
from tfprof_nb.analysis.compare.mann_whitney import MIN_VALUES, critical


def ratio_interval(before: Floats, after: Floats) -> tuple[float, float]:
    """Return the 95% interval of how many times smaller the values became.

    It is that of Hodges and Lehmann: the ratios for which the Mann-Whitney U test finds no difference. It holds for any
    distribution of the values, if each is a run of its own.

    Parameters
    ----------
    before, after
        One positive value per run, e.g. its time; their unit does not matter.

    Returns
    -------
    tuple of float
        The lowest and the highest ratio; NaN with fewer than `MIN_VALUES` runs on a side.

    Examples
    --------
    >>> ratio_interval(np.array([20.0, 21, 22, 23, 24]), np.array([10.0, 10, 10, 10, 10]))
    (2.0, 2.4)
    """
    if min(len(before), len(after)) < MIN_VALUES:
        return math.nan, math.nan
    with np.errstate(divide="ignore"):
        ratios = np.sort(np.divide.outer(before, after).ravel())
    left_out = critical(len(before), len(after))
    return float(ratios[left_out]), float(ratios[-1 - left_out])
