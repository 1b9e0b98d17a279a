"""Lanes of a track: one per nesting depth, without overlaps."""

import heapq
from itertools import pairwise

import numpy as np

from tfprof_nb._arrays import Int64


def lane_depths(line: Int64, start: Int64, end: Int64) -> Int64:
    """Return the depth of each event on its line, so that no two events of one depth overlap.

    Parameters
    ----------
    line, start, end
        One entry per event, ordered by line, then start (ascending), then length (descending).

    Examples
    --------
    >>> lane_depths(np.zeros(3, int), np.array([0, 10, 50]), np.array([40, 20, 60])).tolist()
    [0, 1, 0]
    """
    depth = np.zeros(len(start), dtype=np.int64)
    bounds = np.flatnonzero(np.diff(line, prepend=-1, append=-1)) if len(line) else np.zeros(1, dtype=np.int64)
    for first, last in pairwise(bounds):
        here = slice(first, last)
        ends = np.maximum(end[here], start[here] + 1)
        depth[here] = np.arange(last - first) - np.searchsorted(np.sort(ends), start[here], side="right")
        if _overlap(depth[here], start[here], ends):
            depth[here] = _first_fit(start[here], ends)
    return depth


def _overlap(depth: Int64, start: Int64, end: Int64) -> bool:
    """Whether events of one depth overlap; arrays have one entry per event of a line."""
    order = np.lexsort((start, depth))
    same_lane = np.diff(depth[order]) == 0
    return bool((same_lane & (start[order][1:] < end[order][:-1])).any())


def _first_fit(start: Int64, end: Int64) -> Int64:
    """Give each event the first free lane: for the few lines with events that overlap without nesting."""
    depth = np.zeros(len(start), dtype=np.int64)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    lanes = 0
    for index, (begins, ends) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while busy and busy[0][0] <= begins:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane, lanes = lanes, lanes + 1
        depth[index] = lane
        heapq.heappush(busy, (ends, lane))
    return depth
