"""What caused what across threads and devices: pairs of events that connect them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int32, Int64
from tfprof_nb.analysis.events.forest import Forest

# How the runtime starts a graph, and how it runs one.
RUNS = ("FunctionRun", "SessionRun", "RunGraph")
EXECUTOR = "ExecutorState::Process"
CAPTURED = "InstantiatedCapturedFunction::"  # how tf.data runs one
_OF_TF_DATA = "tf_data_"  # beginning of the names of threads

# Contexts with so many events on both sides are not linked: XLA's guard against quadratic growth.
_CROWDED_CONTEXT = 64
_THREADPOOL_CONTEXT = 15


def links(forest: Forest) -> tuple[Int32, Int32]:
    """Return pairs of events, causes and effects, that connect threads and devices: along these, steps spread."""
    causes, effects = _all_links(forest, _last_causes(*_iterators(forest)))
    return causes.astype(np.int32), effects.astype(np.int32)


def forward_links(forest: Forest) -> tuple[Int64, Int64]:
    """Return the pairs to show as arrows: no cause begins after its effect."""
    return forward(forest, _all_links(forest, _iterator_starts(forest)))


def forward(forest: Forest, pairs: tuple[Int64, Int64]) -> tuple[Int64, Int64]:
    """Return the pairs whose cause begins no later than its effect: others share an id that was used again."""
    causes, effects = pairs
    kept = forest.host.start_ps[causes] <= forest.host.start_ps[effects]
    return causes[kept], effects[kept]


def _all_links(forest: Forest, iterators: tuple[Int64, Int64]) -> tuple[Int64, Int64]:
    pairs = [_context_links(forest), _run_links(forest), iterators, _launch_links(forest)]
    causes = np.concatenate([causes for causes, _ in pairs])
    effects = np.concatenate([effects for _, effects in pairs])
    return causes, effects


def tf_data_steps(forest: Forest) -> Int64:
    """Return the step ids of what tf.data runs for itself: these are no steps of the program."""
    ids = forest.host.ints("id")
    its_threads = np.array([line.name.startswith(_OF_TF_DATA) for line in forest.host.lines], dtype=bool)
    on_its_threads = forest.named(*RUNS) & its_threads[forest.host.line]
    mine = (forest.name_starts(CAPTURED) | on_its_threads)[ids.rows]
    return np.unique(ids.values[mine].astype(np.int64))


def _context_links(forest: Forest) -> tuple[Int64, Int64]:
    """Link producers (`_pt`, `_p`) to consumers (`_ct`, `_c`) of the same context."""
    producers, consumers = _contexts(forest, "_pt", "_p"), _contexts(forest, "_ct", "_c")
    (produced, consumed), contexts = _common_keys(producers, consumers)
    counts = [np.bincount(key, minlength=contexts) for key in (produced, consumed)]
    crowded = (counts[0] >= _CROWDED_CONTEXT) & (counts[1] >= _CROWDED_CONTEXT)
    linked = np.flatnonzero(~crowded[produced])
    producer, consumer = _pairs(produced[linked], consumed, contexts)
    return producers.events[linked[producer]], consumers.events[consumer]


def _run_links(forest: Forest) -> tuple[Int64, Int64]:
    """Link runs of graphs to what executors did for them, by step id: in old files, which have no contexts."""
    if len(contexts := forest.host.ints("_pt").rows):
        return contexts[:0], contexts[:0]
    ids = forest.host.ints("id")
    steps = Keyed(ids.rows, np.zeros_like(ids.rows), ids.values.astype(np.int64))
    process = forest.named(EXECUTOR)
    return _last_causes(steps.take(forest.named(*RUNS)[steps.events]), steps.take(process[steps.events]))


def _iterators(forest: Forest) -> tuple[Keyed, Keyed]:
    """Return `ExecutorState::Process` and the `IteratorGetNext` that it starts elsewhere, by step id and iteration."""
    steps = keyed(forest, "id", "iter_num")
    process = steps.take(forest.named(EXECUTOR)[steps.events])
    computes = forest.named("IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute")
    return process, steps.take(computes[steps.events])


def _iterator_starts(forest: Forest) -> tuple[Int64, Int64]:
    """Link each `IteratorGetNext` to the last `ExecutorState::Process` that began before it.

    An executor runs `Process` again and again in one iteration. The last one of all, to which steps spread as in XLA,
    usually continues after the iterator, and so cannot have started it.
    """
    process, computes = (
        pd.DataFrame({**pairs._asdict(), "start_ps": forest.host.start_ps[pairs.events]}).sort_values("start_ps")
        for pairs in _iterators(forest)
    )
    found = pd.merge_asof(computes, process, on="start_ps", by=["first", "second"], suffixes=("", "_before")).dropna()
    return found["events_before"].to_numpy(np.int64), found["events"].to_numpy(np.int64)


def _launch_links(forest: Forest) -> tuple[Int64, Int64]:
    """Link kernel launches on the host to what they ran on a device, by correlation id."""
    stat = forest.host.ints("correlation_id")
    calls = Keyed(stat.rows, np.zeros_like(stat.rows), stat.values.astype(np.int64))
    return _last_causes(calls.take(forest.on_host[stat.rows]), calls.take(forest.on_device[stat.rows]))


class Keyed(NamedTuple):
    """Events, each with a key of two numbers; the three arrays are equally long."""

    events: Int64
    first: Int64
    second: Int64

    def take(self, chosen: Bools) -> Keyed:
        """Return the chosen events; ``chosen`` has one entry per event."""
        if chosen.all():
            return self
        return Keyed(self.events[chosen], self.first[chosen], self.second[chosen])


def keyed(forest: Forest, first: str, second: str) -> Keyed:
    """Return the events that carry both of two whole-number stats, with their values."""
    a, b = forest.host.ints(first), forest.host.ints(second)
    if np.array_equal(a.rows, b.rows):  # usually both are written together: then nothing needs sorting
        return Keyed(a.rows, a.values.astype(np.int64, copy=False), b.values.astype(np.int64, copy=False))
    in_a, in_b = (_are_among(mine.rows, others.rows, len(forest.host)) for mine, others in ((a, b), (b, a)))
    return Keyed(a.rows[in_a], a.values[in_a].astype(np.int64), b.values[in_b].astype(np.int64))


def _are_among(events: Int64, others: Int64, count: int) -> Bools:
    """Return for each event whether it is among others; there are ``count`` events in all."""
    among = np.zeros(count, dtype=bool)
    among[others] = True
    found: Bools = among[events]
    return found


def _contexts(forest: Forest, kind: str, context: str) -> Keyed:
    contexts = keyed(forest, kind, context)
    return contexts.take(contexts.first != _THREADPOOL_CONTEXT)


def _common_keys(left: Keyed, right: Keyed) -> tuple[list[Int64], int]:
    """Number the distinct keys of both from 0 on; return each side's numbers, and how many there are."""
    first, second = np.concatenate([left.first, right.first]), np.concatenate([left.second, right.second])
    # Neighbours often have the same key: it is numbered once.
    begins = np.flatnonzero(np.append(True, (first[1:] != first[:-1]) | (second[1:] != second[:-1])))[: len(first)]
    first_code, _ = pd.factorize(first[begins])
    second_code, seconds = pd.factorize(second[begins])
    keys, distinct = pd.factorize(first_code * len(seconds) + second_code)
    spread = np.repeat(keys, np.diff(begins, append=len(first)))
    return np.split(spread, [len(left.events)]), len(distinct)


def _last_causes(causes: Keyed, effects: Keyed) -> tuple[Int64, Int64]:
    """Link each effect to the last cause with its key."""
    causes = causes.take(np.isin(causes.second, effects.second))
    (cause, effect), keys = _common_keys(causes, effects)
    last = np.full(keys, -1, dtype=np.int64)
    last[cause] = causes.events
    linked = last[effect] >= 0
    return last[effect[linked]], effects.events[linked]


def _pairs(left: Int64, right: Int64, keys: int) -> tuple[Int64, Int64]:
    """Return the positions, left and right, of all pairs of equal keys, which are numbers below ``keys``."""
    order = np.argsort(left, kind="stable")
    lefts = np.bincount(left, minlength=keys)
    first = np.cumsum(lefts) - lefts
    count = lefts[right]
    if lefts.max(initial=0) <= 1:
        paired = np.flatnonzero(count)
        return order[first[right[paired]]], paired
    before = np.cumsum(count) - count
    nth = np.arange(count.sum()) - np.repeat(before, count)
    return order[np.repeat(first[right], count) + nth], np.repeat(np.arange(len(right)), count)
