"""Which event encloses which on one line, and how long each ran itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tfprof_nb._arrays import Bools, Int32, Int64

NO_PARENT = -1
_BLOCK = 1 << 15


@dataclass(frozen=True, eq=False)
class Nesting:
    """The nesting of events, one entry per event.

    Attributes
    ----------
    parent
        Position of the innermost enclosing event, -1 where there is none.
    depth
        Number of enclosing events; -1 for events that take no part. int16 where that holds it and the level above, as
        it usually does.
    """

    parent: Int32
    depth: npt.NDArray[np.signedinteger]
    _start_ps: Int64
    _duration_ps: Int64
    # The events that have a parent, and the time up to which the parent's earlier children cover each.
    _child: Int32
    _covered_ps: Int64

    @cached_property
    def self_ps(self) -> Int64:
        """Picoseconds in which the event ran and none of its children did; 0 for events that take no part."""
        self_ps = np.where(self.depth < 0, 0, self._duration_ps)
        end_ps = self._start_ps[self._child] + self._duration_ps[self._child]
        np.subtract.at(self_ps, self.parent[self._child], end_ps - self._covered_ps)
        return self_ps


def nest(line: Int32 | Int64, start_ps: Int64, duration_ps: Int64, include: Bools | None = None) -> Nesting:
    """Nest the events of each line.

    An event encloses another if its span includes the other's; equal ends count as included. Of two partly overlapping
    events neither encloses the other. Both can be children of a third, whose self time is then its duration less the
    *union* of its children (XProf subtracts both in full, and loses one of the two).

    Parameters
    ----------
    line, start_ps, duration_ps
        Columns of a `Host`: ordered by line, then start (ascending), then duration (descending).
    include
        Which events take part; all by default.

    Examples
    --------
    >>> import numpy as np
    >>> nesting = nest(np.zeros(3, np.int32), np.array([0, 10, 50]), np.array([100, 20, 30]))
    >>> nesting.parent.tolist(), nesting.depth.tolist(), nesting.self_ps.tolist()
    ([-1, 0, 0], [0, 1, 1], [50, 20, 30])
    """
    parent = np.full(len(line), NO_PARENT, dtype=np.int32)
    depth = np.full(len(line), -1, dtype=np.int16)
    children, covered = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int64)]
    for events, ends, outermost in _separate(line, start_ps, duration_ps, include):
        child, above, covered_ps = _enclosing(start_ps[events], ends, outermost)
        depths = _depth(child, above, len(ends))
        if depths.max(initial=0) >= np.iinfo(depth.dtype).max:
            depth = depth.astype(np.int32)
        depth[events] = depths
        child = events[child]
        parent[child] = events[above]
        children.append(child.astype(np.int32))
        covered.append(covered_ps)
    return Nesting(parent, depth, start_ps, duration_ps, np.concatenate(children), np.concatenate(covered))


def _separate(
    line: Int32 | Int64, start_ps: Int64, duration_ps: Int64, include: Bools | None
) -> Iterator[tuple[Int64, Int64, Bools]]:
    """Yield the events that take part in blocks, of which none encloses an event of another, with ends and outermost.

    Blocks fit into the processor's cache, unless an event encloses more.
    """
    first, size = 0, _BLOCK
    while first < len(line):
        last = min(first + size, len(line))
        events = np.arange(first, last) if include is None else first + np.flatnonzero(include[first:last])
        ends = start_ps[events] + duration_ps[events]
        outermost = _outermost(line[events], ends)
        if last < len(line):
            cut = len(ends) - int(np.argmax(outermost[:0:-1])) - 1 if outermost[1:].any() else 0
            if cut == 0 and len(events):
                size *= 2
                continue
            last = int(events[cut]) if cut else last
            events, ends, outermost = events[:cut], ends[:cut], outermost[:cut]
        yield events, ends, outermost
        first, size = last, _BLOCK


def _enclosing(start_ps: Int64, end_ps: Int64, outermost: Bools) -> tuple[Int64, Int64, Int64]:
    """Return the events with a parent, their parents, and the time up to which earlier children cover their spans.

    In this order, the parent of an event is the nearest event before it that does not end earlier. All events search
    at once: an event that points to one that ends too early then points to where that one points. So runs of siblings
    are crossed in doubling strides, and there are about as many rounds as levels of nesting.
    """
    guard = 0  # stands before the first event of every line and never ends
    end = np.concatenate(([np.iinfo(np.int64).max], end_ps))
    pointer = np.arange(-1, len(end_ps), dtype=np.int64)
    pointer[1:][outermost] = guard
    # Outermost events are known beforehand: each would search through all earlier events of its line.
    child = np.flatnonzero(~outermost)
    covered = start_ps[child]
    place, open_events = np.arange(len(child)), child + 1
    while True:
        target = pointer[open_events]
        target_end = end[target]
        early = np.flatnonzero(target_end < end[open_events])
        if not len(early):
            break
        place, open_events, target, target_end = place[early], open_events[early], target[early], target_end[early]
        covered[place] = np.maximum(covered[place], target_end)
        pointer[open_events] = pointer[target]
    return child, pointer[child + 1] - 1, covered


def _outermost(line: Int32 | Int64, end_ps: Int64) -> Bools:
    """Return which events end later than all events before them on their line: nothing can enclose them."""
    outermost = np.ones(len(line), dtype=bool)
    begins = np.flatnonzero(line[1:] != line[:-1]) + 1
    for first, last in pairwise([0, *begins.tolist(), len(line)]):
        before = np.maximum.accumulate(end_ps[first : last - 1])
        outermost[first + 1 : last] = end_ps[first + 1 : last] > before
    return outermost


def _depth(child: Int64, parent: Int64, count: int) -> Int32:
    """Count the ancestors of ``count`` events by doubling: after k rounds each knows its ancestors within 2**k levels.

    ``child`` are the events that have a parent.
    """
    depth = np.zeros(count, dtype=np.int32)
    depth[child] = 1
    ancestor = np.full(count, NO_PARENT, dtype=np.int64)
    ancestor[child] = parent
    while len(child):
        reached = ancestor[child]
        depth[child] += depth[reached]
        further = ancestor[reached]
        ancestor[child] = further
        child = child[further >= 0]
    return depth
