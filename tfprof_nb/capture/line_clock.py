"""The clock behind the marks of a cell: it counts and times the cell's places, which are its statements.

A mark calls a name in `builtins`. The clock sets that name to nearly nothing before and after the recording, to
`LineClock.enter` during the recording, and to a counter, at a tenth of the cost, for places that run very often.
"""

import builtins
import itertools
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter_ns
from typing import Any

from tfprof_nb.capture.tensorflow import trace_class
from tfprof_nb.formats.marks import CELL_LINE_EVENTS

LONG_NS = 20_000  # a place that takes longer on average, or a loop whose passes do, always leaves an event
BRIEF_NS = 2_000  # after many runs, a place that takes less on average is only counted
MARK = "__tfprof_line_"  # what names of marks begin with


def mark_name(place: int) -> str:
    """Return the name that the mark of a place calls."""
    return f"{MARK}{place}__"


class LineClock:
    """Counts and times the places of one cell. A place begins at its mark and ends at the next mark.

    Parameters
    ----------
    events
        The name of each place's event in the profile.
    heads
        The places where passes of loops begin.

    Attributes
    ----------
    hits, spent_ns
        For each place, how often it began while the clock ran, and its time.
    estimated
        Places whose time is an estimate: very short ones that ran in turns share their total time.
    first, last
        The places that ran when the clock was started and stopped; -1 is none.
    """

    def __init__(self, events: Sequence[str], heads: Collection[int] = ()) -> None:
        self._events, self._heads = events, heads
        self._passed_ns, self._ends_long_pass = [0] * len(events), False  # when each place was reached last
        self.hits, self.spent_ns, self.estimated = [0] * len(events), [0] * len(events), set[int]()
        self.first = self.last = self._place = -1
        self._thread = threading.get_ident()
        self._enter = [partial(self.enter, place) for place in range(len(events))]
        self._counters: dict[int, _Counter] = {}
        self._listening = True  # whether a counted place, too, ends the place before it
        self._trace: Any = None
        self._since = 0
        self._running = self._installed = False

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Define the names that the marks call while the block runs; the clock stops at its end."""
        self._thread = threading.get_ident()
        self._installed = True
        if self._running:
            self._set_all(self._enter)
        else:
            self._set_all([partial(setattr, self, "_place", place) for place in range(len(self.hits))])
        try:
            yield
        finally:
            self.stop()
            self._installed = False
            for place in range(len(self.hits)):
                delattr(builtins, mark_name(place))

    def start(self) -> None:
        """Begin to count and time, in the place that the cell has reached."""
        self._new_trace = trace_class()
        self.first = self._place
        if self.first >= 0:
            self.hits[self.first] = 1
        self._since, self._running = perf_counter_ns(), True
        if self._installed:
            self._set_all(self._enter)

    def stop(self) -> None:
        """End the current place; from now on marks do nothing."""
        now = perf_counter_ns()
        if not self._running:
            return
        self._running, self.last = False, self._place
        if self._installed:
            self._set_all([bool] * len(self.hits))  # the cheapest callable in Python
        self._leave(now)

    def enter(self, place: int) -> None:
        """End the current place, and begin another."""
        __tracebackhide__ = True
        now = perf_counter_ns()
        self._leave(now)
        if self._counters:
            self._listen(place not in self._counters)
        self._place = place
        hits = self.hits[place] = self.hits[place] + 1
        self._ends_long_pass = place in self._heads and now - self._passed_ns[place] > LONG_NS
        self._passed_ns[place] = now
        if hits <= CELL_LINE_EVENTS or self.spent_ns[place] > LONG_NS * hits or self._ends_long_pass:
            self._trace = self._new_trace(self._events[place])
        self._since = perf_counter_ns()  # so that the time of the mark is not counted

    def _leave(self, now: int) -> None:
        if self._trace is not None:
            if threading.get_ident() == self._thread:  # an event must end on the thread where it began
                self._trace.__exit__(None, None, None)
            self._trace = None
        place, passed = self._place, now - self._since
        if place < 0:
            return
        if place in self._counters:
            self._share_out(passed, place)
            return
        self.spent_ns[place] += passed
        brief = self.spent_ns[place] < BRIEF_NS * self.hits[place]
        if self.hits[place] % CELL_LINE_EVENTS == 0 and brief and not self._ends_long_pass:
            self._counters[place] = _Counter()

    def _listen(self, listening: bool) -> None:
        """Let counted places end the place before them, or, while one of them runs, only count."""
        if listening != self._listening:
            self._listening = listening
            for place, counter in self._counters.items():
                setattr(builtins, mark_name(place), self._enter[place] if listening else counter.count)

    def _share_out(self, passed: int, place: int) -> None:
        """Divide the time since a counted place began among the counted places that ran since, by their means."""
        runs = {counted: counter.news() for counted, counter in self._counters.items()}
        cost = {counted: (runs[counted] + (counted == place)) * self._mean_ns(counted) for counted in runs}
        whole = sum(cost.values()) or 1.0
        for counted, count in runs.items():
            self.spent_ns[counted] += round(passed * cost[counted] / whole)
            self.hits[counted] += count
        if sum(map(bool, cost.values())) > 1:
            self.estimated.update(counted for counted in cost if cost[counted])

    def _mean_ns(self, place: int) -> float:
        return max(self.spent_ns[place], 1) / self.hits[place]

    def _set_all(self, calls: Sequence[Callable[[], object]]) -> None:
        for place, call in enumerate(calls):
            setattr(builtins, mark_name(place), call)


class _Counter:
    """Counts the calls of `count`, which runs no Python code."""

    def __init__(self) -> None:
        self.count = itertools.count(1).__next__
        self._known = 0

    def news(self) -> int:
        """Return the number of calls since the last call of this method, which itself calls `count` once."""
        before, self._known = self._known, self.count()
        return self._known - before - 1
