"""What repeated runs tell: whether they differ by chance, and an interval that holds their ratio."""

import math
from collections.abc import Sequence

import numpy as np

from tfprof_nb._arrays import Floats
from tfprof_nb.analysis.compare.mann_whitney import MIN_VALUES, critical, p_value
from tfprof_nb.analysis.compare.paired import can_be_paired, paired_interval, paired_p_value


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
