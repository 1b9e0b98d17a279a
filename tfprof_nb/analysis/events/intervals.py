"""Arithmetic on time intervals: what they cover together, and which gets the time that several claim."""

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Bools, Int64


def newly_covered(start: Int64, end: Int64) -> Int64:
    """Return for each interval the time that no earlier interval covers; the sum is the length of their union.

    The intervals must be ordered by start.

    Examples
    --------
    >>> newly_covered(np.array([0, 5, 30]), np.array([10, 12, 40])).tolist()
    [10, 2, 10]
    """
    if not len(start):
        return np.zeros(0, dtype=np.int64)
    covered = np.maximum.accumulate(end)
    covered[1:] = np.maximum(start[1:], covered[:-1])
    covered[0] = start[0]
    np.subtract(end, covered, out=covered)
    return np.maximum(covered, 0, out=covered)


def split_by_priority(
    owner: Int64, start: Int64, end: Int64, priority: npt.NDArray[np.signedinteger], owners: int
) -> dict[int, Int64]:
    """Divide the time of each timeline among its intervals: at every moment the highest priority counts.

    Parameters
    ----------
    owner
        Per interval: its timeline, from 0 to ``owners`` - 1.
    start, end
        Per interval: its bounds, which count from the start of its timeline and are not below zero.
    priority
        Per interval: its class, not below zero; larger numbers count first.
    owners
        How many timelines there are.

    Returns
    -------
    dict
        For each priority that occurs, the time per timeline.

    Examples
    --------
    >>> shares = split_by_priority(*map(np.array, ([0, 0], [0, 40], [100, 60], [10, 110])), owners=1)
    >>> {priority: time.tolist() for priority, time in shares.items()}
    {110: [20], 10: [80]}
    """
    # Timelines are laid end to end, so that one sweep serves them all.
    extent = np.zeros(owners, dtype=np.int64)
    np.maximum.at(extent, owner, end)
    origin = (np.cumsum(extent) - extent)[owner]
    start, end = origin + start, origin + end
    order = np.argsort(start, kind="stable")
    owner, priority, start, end = owner[order], priority[order], start[order], end[order]
    shares: dict[int, Int64] = {}
    higher = np.zeros(owners, dtype=np.int64)
    levels = np.flatnonzero(np.bincount(priority)).tolist()
    for level in reversed(levels):
        active = np.flatnonzero(priority >= level) if level > levels[0] else slice(None)
        covered = np.zeros(owners, dtype=np.int64)
        np.add.at(covered, owner[active], newly_covered(start[active], end[active]))
        shares[level] = covered - higher
        higher = covered
    return shares


def covered_at(start: Int64, end: Int64, at: Int64) -> Bools:
    """Return for each time whether any interval covers it; an interval covers its start, not its end.

    Examples
    --------
    >>> covered_at(np.array([0, 5, 30]), np.array([10, 12, 40]), np.array([11, 12, 30])).tolist()
    [True, False, True]
    """
    if not len(start):
        return np.zeros(len(at), dtype=bool)
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate(end[order])
    before = np.searchsorted(start[order], at, side="right") - 1
    covered: Bools = (before >= 0) & (at < reach[before])
    return covered
