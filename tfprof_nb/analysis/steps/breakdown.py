"""What each step spent its time on, and how much waiting for input lies between the steps."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Bools, Int64, Ints
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.compilations import compiled
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.intervals import newly_covered, split_by_priority
from tfprof_nb.analysis.steps.activities import Activity, is_of_old_tensorflow, tracing_spans
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.formats.xspace import DISPATCH

CATEGORIES: dict[str, tuple[Activity, ...]] = {
    "device_compute_ms": (Activity.DEVICE_COMPUTE_16, Activity.DEVICE_COMPUTE_32),
    "device_to_device_ms": (Activity.DEVICE_TO_DEVICE,),
    "device_collectives_ms": (Activity.DEVICE_COLLECTIVES,),
    "host_compute_ms": (Activity.HOST_COMPUTE,),
    "kernel_launch_ms": (Activity.KERNEL_LAUNCH,),
    "input_ms": (Activity.WAIT_INPUT, Activity.HOST_TO_DEVICE),
    "output_ms": (Activity.DEVICE_TO_HOST,),
    "compile_ms": (Activity.COMPILE,),
}
# These columns add up to a step's time.
PARTS = [*CATEGORIES, "other_ms"]
_CLAIMS = 1 << 19
_FETCHES = ("IteratorGetNext", f"{DISPATCH}IteratorGetNext")


def breakdown(forest: Forest, grouping: Grouping, spans: pd.DataFrame, activity: npt.NDArray[np.int16]) -> pd.DataFrame:
    """Divide the time of each step among the activities of its group's events.

    Parameters
    ----------
    forest, grouping
        One host's events and their groups.
    spans
        The steps, in the form of `Grouping.spans`.
    activity
        Per event: its `Activity`.

    Returns
    -------
    DataFrame
        One row per step: ``start_ms step_ms``, `PARTS`, and ``warm_up``, whether the step traced or compiled.
    """
    start, end = spans["start_ps"].to_numpy(np.int64), spans["end_ps"].to_numpy(np.int64)
    step = grouping.steps_of_events(spans["group"].to_numpy(np.int64), np.arange(len(spans)))
    traced, old = _tracing(forest, step), is_of_old_tensorflow(forest)
    step[activity == Activity.NONE] = -1
    step[spans["event"][spans["event"] >= 0]] = -1  # the marks of steps claim nothing
    none = np.zeros(len(spans), dtype=np.int64)
    shares = defaultdict[int, Int64](none.copy)
    # Some steps at a time: the columns of what claims their time stay small.
    some = len(spans) * _CLAIMS // max(len(step), 1) + 1
    for first in range(0, len(spans), some):
        last = min(first + some, len(spans))
        claims = _working(forest, step, first, last, activity, nested=old)
        tracing = traced.take((traced.step >= first) & (traced.step < last))
        columns: Any = zip(claims, tracing, strict=True)
        claims = _Claims(*map(np.concatenate, columns))
        if old:
            claims = claims._replace(end_ps=_kept_open(*claims))
        for kind, time in _divided(claims, start, end, first, last).items():
            shares[kind][first:last] = time
    table = pd.DataFrame({"start_ms": start / PS_PER_MS, "step_ms": (end - start) / PS_PER_MS})
    rest = end - start
    for column, activities in CATEGORIES.items():
        time = sum((shares[int(kind)] for kind in activities), none)
        table[column] = time / PS_PER_MS
        rest = rest - time
    table["other_ms"] = rest / PS_PER_MS
    table["warm_up"] = np.isin(np.arange(len(spans)), traced.step) | _compiles(forest, start, end)
    return table


def _compiles(forest: Forest, start: Int64, end: Int64) -> Bools:
    """Return for each step whether XLA began to compile a program in it, on whichever thread."""
    began = np.sort(forest.host.start_ps[compiled(forest)])
    within: Bools = np.searchsorted(began, start) < np.searchsorted(began, end)
    return within


class _Claims(NamedTuple):
    """What claims time of steps. Steps are positions in the spans; times are the profile's."""

    step: Int64
    start_ps: Int64
    end_ps: Int64
    activity: npt.NDArray[np.int16]

    def take(self, chosen: Bools) -> _Claims:
        """Return some of them, given by a flag for each."""
        if chosen.all():
            return self
        return _Claims(self.step[chosen], self.start_ps[chosen], self.end_ps[chosen], self.activity[chosen])


def _tracing(forest: Forest, step: Ints) -> _Claims:
    """Return the tracing and compiling in steps; ``step`` has one entry per event."""
    calls, start, end = tracing_spans(forest)
    compiling = np.full(len(calls), Activity.COMPILE, dtype=np.int16)
    return _Claims(step[calls].astype(np.int64), start, end, compiling).take(step[calls] >= 0)


def _working(
    forest: Forest, step: Ints, first: int, last: int, activity: npt.NDArray[np.int16], *, nested: bool
) -> _Claims:
    """Return the events of steps from ``first`` to before ``last``.

    What ran inside an event that claims the same time claims nothing more, and is left out unless ``nested``.
    """
    working = np.flatnonzero((step >= first) & (step < last))
    if not nested:
        parent = forest.nesting.parent[working]
        inner = np.flatnonzero(parent >= 0)
        mine, around = working[inner], parent[inner]
        working = np.delete(working, inner[(step[around] == step[mine]) & (activity[around] >= activity[mine])])
    own = step[working].astype(np.int64)
    return _Claims(own, forest.host.start_ps[working], forest.ends_ps(working), activity[working])


def _divided(claims: _Claims, start: Int64, end: Int64, first: int, last: int) -> dict[int, Int64]:
    """Divide the time of steps from ``first`` to before ``last``; ``start`` and ``end`` have an entry per step."""
    began = np.maximum(claims.start_ps - start[claims.step], 0)
    ended = np.minimum(claims.end_ps, end[claims.step]) - start[claims.step]
    within = claims._replace(step=claims.step - first, start_ps=began, end_ps=ended).take(ended > began)
    return split_by_priority(*within, owners=last - first)


def _kept_open(step: Int64, start: Int64, end: Int64, activity: npt.NDArray[np.int16]) -> Int64:
    """Let events without length last until work of their class or a higher one starts, as TensorFlow up to 2.10 did.

    Its sweep handled ends before starts: an event that ended when it began stayed open, unless work of its class or a
    higher one was going on. CUPTI times some copies so, and allocations have no length at all.

    Each array has one entry per event: the position of its step, its times (ps) and its class. Returned are the ends.
    """
    stride = int(end.max(initial=0)) + 1
    start, end = step * stride + start, step * stride + end
    last = np.zeros(int(step.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(last, step, end)
    kept = end.copy()
    for level in np.unique(activity[start == end]):
        rivals = np.flatnonzero(activity >= level)
        rivals = rivals[np.argsort(start[rivals], kind="stable")]
        starts, reach = start[rivals], np.maximum.accumulate(end[rivals])
        instants = np.flatnonzero((activity == level) & (start == end))
        after = np.searchsorted(starts, start[instants], side="right")
        alone = reach[after - 1] == start[instants]  # its own end: nothing reaches further
        instants, after = instants[alone], after[alone]
        kept[instants] = np.minimum(np.append(starts, end.max())[after], last[step[instants]])
    return kept - step * stride


def input_between_steps_ps(forest: Forest, grouping: Grouping) -> int:
    """Return how long threads with step marks fetched data between the first mark and the last, outside of all steps.

    A loop that fetches its batches between the marks waits for data that no step counts.
    """
    host, spans = forest.host, grouping.spans
    marks = spans["event"].to_numpy(np.int64)
    marks = marks[marks >= 0]
    if grouping.source not in ("marked", "keras") or not len(marks):
        return 0
    has_marks = np.zeros(len(host.lines), dtype=bool)
    has_marks[host.line[marks]] = True
    fetches = np.flatnonzero(forest.name_starts(*_FETCHES))
    fetches = fetches[has_marks[host.line[fetches]]]
    fetches = fetches[~np.isin(grouping.group[fetches], spans["group"])]
    start = host.start_ps[fetches]
    fetches = fetches[(start >= spans["start_ps"].min()) & (start < spans["end_ps"].max())]
    fetches = fetches[np.argsort(host.start_ps[fetches], kind="stable")]
    return int(newly_covered(host.start_ps[fetches], forest.ends_ps(fetches)).sum())
