"""A line of time cut into pieces, and the time of a wait shared among what ran meanwhile on other threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof_nb._arrays import Bools, Floats, Int64


@dataclass(frozen=True, eq=False)
class Pieces:
    """A stretch of time cut into pieces that follow one another, each with what was innermost in it.

    Attributes
    ----------
    bounds
        The ends of the pieces, ascending: one more than there are pieces.
    event
        Per piece: the innermost event, -1 for none.
    """

    bounds: Int64
    event: Int64

    @property
    def start_ps(self) -> Int64:
        """When each piece begins."""
        return self.bounds[:-1]

    @property
    def end_ps(self) -> Int64:
        """When each piece ends."""
        return self.bounds[1:]

    @property
    def length_ps(self) -> Int64:
        """How long each piece is."""
        return np.diff(self.bounds)

    @property
    def middle_ps(self) -> Int64:
        """A moment within each piece."""
        middle: Int64 = self.bounds[:-1] + np.diff(self.bounds) // 2
        return middle

    def cut(self, times_ps: Int64) -> Pieces:
        """Cut the pieces at these times, too.

        Examples
        --------
        >>> pieces = Pieces(np.array([0, 10, 20]), np.array([-1, 4])).cut(np.array([12, 20, 35]))
        >>> pieces.bounds.tolist(), pieces.event.tolist()
        ([0, 10, 12, 20], [-1, 4, 4])
        """
        inside = distinct(times_ps[(times_ps > self.bounds[0]) & (times_ps < self.bounds[-1])])
        place = np.searchsorted(self.bounds, inside)
        new = self.bounds[place] != inside
        bounds = np.insert(self.bounds, place[new], inside[new])
        piece = np.searchsorted(self.bounds, bounds[:-1], side="right") - 1
        return Pieces(bounds, self.event[np.minimum(piece, len(self.event) - 1)])  # of no time at all, there is one


def distinct(times: Int64) -> Int64:
    """Return the distinct times in order, faster than `np.unique`."""
    times = np.sort(times)
    once: Int64 = times[np.append(True, times[1:] != times[:-1])[: len(times)]]
    return once


def innermost(start: Int64, end: Int64, parent: Int64, depth: Int64, begin: int, finish: int) -> Pieces:
    """Cut the time from ``begin`` to ``finish`` where the innermost event of a thread changes.

    Parameters
    ----------
    start, end, parent, depth
        Per event of the thread: its times, the event around it (-1 for none), and how many are around it.

    Examples
    --------
    >>> pieces = innermost(*map(np.array, ([10, 20], [50, 30], [-1, 0], [0, 1])), begin=0, finish=60)
    >>> pieces.bounds.tolist(), pieces.event.tolist()
    ([0, 10, 20, 30, 50, 60], [-1, 0, 1, 0, -1])
    """
    events = np.flatnonzero((end > start) & (end > begin) & (start < finish))
    times = np.concatenate([start[events], end[events]])
    follows = np.concatenate([events, parent[events]])
    # At one time events end, the inner ones first, before others begin, the outer ones first.
    rank = np.concatenate([depth[events] + 1, -depth[events] - 1])
    order = np.lexsort((rank, times))
    times, follows = np.clip(times[order], begin, finish), follows[order]
    last = np.append(times[1:] != times[:-1], True)[: len(times)]
    times, follows = times[last], follows[last]
    if not len(times) or times[0] > begin:
        times, follows = np.append(begin, times), np.append(-1, follows)
    if times[-1] == finish and len(times) > 1:
        return Pieces(times, follows[:-1])
    return Pieces(np.append(times, finish), follows)


@dataclass(frozen=True, eq=False)
class Claims:
    """What claims time: times (ps) and the number of who claims it."""

    start_ps: Int64
    end_ps: Int64
    key: Int64


def shared(waits: Pieces, owner: Int64, claims: Claims, owners: int, keys: int, behind: Bools | None = None) -> Floats:
    """Share the time of waits among claims: at every moment, each that is there gets the same part.

    Parameters
    ----------
    owner
        Per piece: whose wait it is, from 0 to ``owners`` - 1; -1 if nobody waits.
    claims
        What ran meanwhile, with keys from 0 to ``keys`` - 1.
    behind
        Per claim: whether it gets only the time in which no others are there; by default none does.

    Returns
    -------
    ndarray
        The time (ps) of each owner for each key. What is missing to an owner's time is that in which nothing ran.

    Examples
    --------
    >>> waits = Pieces(np.array([0, 10, 30]), np.array([-1, -1]))
    >>> claims = Claims(np.array([0, 20]), np.array([24, 28]), np.array([0, 1]))
    >>> shared(waits, np.array([-1, 0]), claims, 1, 2).tolist()
    [[12.0, 6.0]]
    >>> shared(waits, np.array([-1, 0]), claims, 1, 2, behind=np.array([True, False])).tolist()
    [[10.0, 8.0]]
    """
    amounts = np.zeros((owners, keys))
    waited = owner >= 0
    if not waited.any() or not len(claims.key):
        return amounts
    first, last = waits.start_ps[waited][0], waits.end_ps[waited][-1]
    start, end = claims.start_ps.clip(first, last), claims.end_ps.clip(first, last)
    there = end > start
    start, end, key = start[there], end[there], claims.key[there]
    later = np.zeros(len(key), dtype=bool) if behind is None else behind[there]
    bounds = distinct(np.concatenate([waits.bounds, start, end]))
    begins, ends = np.searchsorted(bounds, start), np.searchsorted(bounds, end)
    owner_of = owner[np.clip(np.searchsorted(waits.bounds, bounds[:-1], side="right") - 1, 0, len(owner) - 1)]
    length, free = np.diff(bounds), np.ones(len(bounds) - 1, dtype=bool)
    for chosen in (~later, later):
        starts, stops = begins[chosen], ends[chosen]
        if not len(starts):
            continue
        changes = np.bincount(starts, minlength=len(bounds)) - np.bincount(stops, minlength=len(bounds))
        at_once = np.cumsum(changes)[:-1]
        part = np.where(free, length / np.maximum(at_once, 1), 0.0)
        free &= at_once == 0
        for number in np.flatnonzero(np.bincount(owner[waited])).tolist():
            passed = np.append(0.0, np.cumsum(np.where(owner_of == number, part, 0.0)))
            amounts[number] += np.bincount(key[chosen], weights=passed[stops] - passed[starts], minlength=keys)
    return amounts
