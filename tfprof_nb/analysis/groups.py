"""Which step each event belongs to, across threads and on to the devices.

A step starts at a root event and takes in everything that the root caused: what nests in it on its thread, what runs
elsewhere through producer and consumer contexts, and the kernels that it launched. The rules are those of
`group_events.cc` (XLA), but marks made with `step_num` win over TensorFlow's own loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb.analysis.calls import repeated_calls
from tfprof_nb.analysis.forest import Forest

Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Source = Literal["marked", "keras", "device", "inferred", "none"]

# Both sides of a context this large are not linked: upstream's guard against quadratic growth.
_CROWDED_CONTEXT = 64
_THREADPOOL_CONTEXT = 15
# What our marks carry when they closed on the end of the data or on an exception: those are no steps.
_UNFINISHED = ("end_of_data", "interrupted")


@dataclass(frozen=True, eq=False)
class Grouping:
    """The step group of every event.

    Attributes
    ----------
    group
        Group number per event, -1 for none.
    spans
        The steps that the host's threads show: ``group``, ``start_ps``, ``end_ps``, and the ``row`` that names them.
    source
        How the groups were found: ``marked`` by the user or by us, ``keras`` (its unfinished marks), ``device`` (groups
        that only the devices' work gives a length), ``inferred`` from function calls, or ``none``.
    """

    group: Int64
    spans: pd.DataFrame
    source: Source


def group_events(forest: Forest) -> Grouping:
    """Group one host's events into steps."""
    if _is_grouped(forest):
        return _saved_groups(forest)
    marks, source = _find_marks(forest)
    if len(marks):
        return _marked_groups(forest, marks, source)
    if forest.on_device.any():
        return _function_groups(forest)
    return _inferred_groups(forest)


def _is_grouped(forest: Forest) -> bool:
    """Whether the TensorFlow that wrote the file (up to 2.8 or so) grouped its events, those of devices included."""
    rows = forest.host.ints("group_id").rows
    return bool(len(rows)) and (not forest.on_device.any() or bool(forest.on_device[rows].any()))


def _saved_groups(forest: Forest) -> Grouping:
    group = forest.host.ints("group_id").dense(len(forest.host)).astype(np.int64)
    marks = np.zeros(len(group), dtype=bool)
    marks[forest.host.texts("step_name").rows] = True
    marks |= forest.named_as_marks
    numbered = forest.named("TraceContext")
    numbered[forest.host.ints("step_num").rows] = True
    rows = np.flatnonzero(marks & (group >= 0) & forest.on_host)
    return Grouping(group, _spans(forest, rows, group[rows]), "marked" if numbered[rows].any() else "device")


def _marked_groups(forest: Forest, marks: Int64, source: Source) -> Grouping:
    """Marks are groups first; functions that ran outside them follow, so that they are nobody's steps."""
    marks = forest.outermost(marks)
    group = np.full(len(forest.host), -1, dtype=np.int64)
    group[marks] = np.arange(len(marks))
    links = _links(forest)
    _spread(forest, group, links)
    unfinished = np.isin(marks, np.concatenate([forest.host.ints(stat).rows for stat in _UNFINISHED]))
    spans = _spans(forest, marks, np.arange(len(marks)))
    return Grouping(group, spans[~unfinished].reset_index(drop=True), source)


def _function_groups(forest: Forest) -> Grouping:
    """Each function run is a group; what it ran on the devices gives the step its length."""
    roots = _function_runs(forest)
    group = np.full(len(forest.host), -1, dtype=np.int64)
    group[roots] = np.arange(len(roots))
    _spread(forest, group, _links(forest))
    return Grouping(group, _spans(forest, roots[:0], roots[:0]), "device" if len(roots) else "none")


def _inferred_groups(forest: Forest) -> Grouping:
    """Each repeated function call is a step, from the end of the call before it to its own end on the same thread."""
    spans = repeated_calls(forest, _function_runs(forest))
    group = np.full(len(forest.host), -1, dtype=np.int64)
    outer = forest.levels[0] if forest.levels else np.zeros(0, dtype=np.int64)
    group[outer] = _span_of(forest, outer, spans)
    _spread(forest, group, _links(forest))
    return Grouping(group, spans, "inferred" if len(spans) else "none")


def _span_of(forest: Forest, rows: Int64, spans: pd.DataFrame) -> Int64:
    """The group of the span that each row starts in, on the span's own thread; -1 for none."""
    found = np.full(len(rows), -1, dtype=np.int64)
    for line, mine in spans.groupby(forest.host.line[spans["row"].to_numpy(np.int64)]):
        on_line = np.flatnonzero(forest.host.line[rows] == line)
        start = forest.host.start_ps[rows[on_line]]
        at = np.searchsorted(mine["start_ps"], start, side="right") - 1
        inside = (at >= 0) & (start < mine["end_ps"].to_numpy()[at])
        found[on_line[inside]] = mine["group"].to_numpy()[at[inside]]
    return found


def _spans(forest: Forest, rows: Int64, group: Int64) -> pd.DataFrame:
    """The longest mark of each group."""
    start = forest.host.start_ps[rows]
    end = start + forest.host.duration_ps[rows]
    spans = pd.DataFrame({"group": group, "start_ps": start, "end_ps": end, "row": rows})
    longest = spans.assign(length=end - start).sort_values("length", ascending=False, kind="stable")
    return longest.drop_duplicates("group").drop(columns="length").sort_values("start_ps", ignore_index=True)


def _function_runs(forest: Forest) -> Int64:
    """Runtime roots (`FunctionRun`, `SessionRun`); those that tf.data runs are no steps."""
    events = len(forest.host)
    root = _root_level(forest) > 0
    ids = forest.host.ints("id").dense(events, missing=0)
    tf_data_ids = np.unique(ids[forest.name_starts("InstantiatedCapturedFunction::")])
    return forest.outermost(np.flatnonzero(root & forest.on_host & ~np.isin(ids, tf_data_ids)))


def _find_marks(forest: Forest) -> tuple[Int64, Source]:
    events = len(forest.host)
    numbered = np.zeros(events, dtype=bool)
    numbered[forest.host.ints("step_num").rows] = True
    root = _root_level(forest) > 0
    marks = ((numbered & root) | forest.named("TraceContext")) & forest.on_host
    if marks.any():
        return np.flatnonzero(marks), "marked"
    # Keras 3's TensorBoard callback numbers its batches but forgets `_r`.
    batches = numbered & forest.named("Profiled batch") & forest.on_host
    if batches.any():
        return np.flatnonzero(batches), "keras"
    return np.zeros(0, dtype=np.int64), "none"


def _root_level(forest: Forest) -> Int64:
    return forest.host.ints("_r").dense(len(forest.host), missing=0).astype(np.int64)


def _spread(forest: Forest, group: Int64, links: tuple[Int64, Int64]) -> None:
    """Hand groups on, from parent to child and along the links, until nothing changes."""
    causes, effects = links
    while True:
        _inherit(forest, group)
        reached = (group[causes] >= 0) & (group[effects] < 0)
        if not reached.any():
            return
        # Of several causes the earliest group wins, as upstream, which works off roots in order of time.
        causes_reached, effects_reached = causes[reached], effects[reached]
        earliest_last = np.argsort(-group[causes_reached], kind="stable")
        group[effects_reached[earliest_last]] = group[causes_reached[earliest_last]]


def _inherit(forest: Forest, group: Int64) -> None:
    parent = forest.nesting.parent
    for rows in forest.levels[1:]:
        mine, inherited = group[rows], group[parent[rows]]
        group[rows] = np.where(mine < 0, inherited, mine)


def _links(forest: Forest) -> tuple[Int64, Int64]:
    """Pairs of rows, cause and effect, that connect threads and devices."""
    pairs = [_context_links(forest), _iterator_links(forest), _launch_links(forest)]
    causes = np.concatenate([causes for causes, _ in pairs])
    effects = np.concatenate([effects for _, effects in pairs])
    return causes, effects


def _context_links(forest: Forest) -> tuple[Int64, Int64]:
    """Producers (`_pt`, `_p`) to consumers (`_ct`, `_c`) of the same context."""
    producers, consumers = _contexts(forest, "_pt", "_p"), _contexts(forest, "_ct", "_c")
    (produced, consumed), contexts = _common_keys(producers, consumers)
    counts = [np.bincount(key, minlength=contexts) for key in (produced, consumed)]
    crowded = (counts[0] >= _CROWDED_CONTEXT) & (counts[1] >= _CROWDED_CONTEXT)
    producer, consumer = _pairs(np.where(crowded[produced], -1, produced), consumed)
    return producers.rows[producer], consumers.rows[consumer]


def _iterator_links(forest: Forest) -> tuple[Int64, Int64]:
    """`ExecutorState::Process` to the `IteratorGetNext` that it started on another thread, by step id and iteration."""
    steps = _keyed(forest, "id", "iter_num")
    process = steps.take(forest.named("ExecutorState::Process")[steps.rows])
    computes = forest.named("IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute")
    return _last_causes(process, steps.take(computes[steps.rows]))


def _launch_links(forest: Forest) -> tuple[Int64, Int64]:
    """Kernel launches on the host to what they ran on a device, by correlation id."""
    stat = forest.host.ints("correlation_id")
    calls = _Keyed(stat.rows, np.zeros_like(stat.rows), stat.values.astype(np.int64))
    return _last_causes(calls.take(forest.on_host[stat.rows]), calls.take(forest.on_device[stat.rows]))


class _Keyed(NamedTuple):
    """Rows, each with a key of two numbers."""

    rows: Int64
    first: Int64
    second: Int64

    def take(self, wanted: Bools) -> _Keyed:
        return _Keyed(self.rows[wanted], self.first[wanted], self.second[wanted])


def _keyed(forest: Forest, first: str, second: str) -> _Keyed:
    """Rows that carry both of two whole-number stats, with their values."""
    one, two = forest.host.ints(first), forest.host.ints(second)
    if np.array_equal(one.rows, two.rows):  # mostly both are written together: then nothing needs sorting
        return _Keyed(one.rows, one.values.astype(np.int64), two.values.astype(np.int64))
    rows, in_one, in_two = np.intersect1d(one.rows, two.rows, assume_unique=True, return_indices=True)
    return _Keyed(rows, one.values[in_one].astype(np.int64), two.values[in_two].astype(np.int64))


def _contexts(forest: Forest, kind: str, context: str) -> _Keyed:
    found = _keyed(forest, kind, context)
    return found.take(found.first != _THREADPOOL_CONTEXT)


def _common_keys(one: _Keyed, two: _Keyed) -> tuple[list[Int64], int]:
    """Number the keys that occur in either, from 0 on; return the numbers of both, and how many there are."""
    first, _ = pd.factorize(np.concatenate([one.first, two.first]))
    second, seconds = pd.factorize(np.concatenate([one.second, two.second]))
    keys, distinct = pd.factorize(first * len(seconds) + second)
    return np.split(keys, [len(one.rows)]), len(distinct)


def _last_causes(causes: _Keyed, effects: _Keyed) -> tuple[Int64, Int64]:
    """Link each effect to the last cause with its key."""
    (cause, effect), keys = _common_keys(causes, effects)
    last = np.full(keys, -1, dtype=np.int64)
    last[cause] = causes.rows
    linked = last[effect] >= 0
    return last[effect[linked]], effects.rows[linked]


def _pairs(left: Int64, right: Int64) -> tuple[Int64, Int64]:
    """Return the positions of all pairs with equal keys; a key of -1 on the left pairs with nothing."""
    order = np.argsort(left, kind="stable")
    ordered = left[order]
    first, end = np.searchsorted(ordered, right, "left"), np.searchsorted(ordered, right, "right")
    count = end - first
    before = np.cumsum(count) - count
    nth = np.arange(count.sum()) - np.repeat(before, count)
    return order[np.repeat(first, count) + nth], np.repeat(np.arange(len(right)), count)
