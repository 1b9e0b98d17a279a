"""Which step each event belongs to, across threads and on to the devices.

A step starts at a root event and takes in everything that the root caused: what nests in it on its thread, what runs
elsewhere through producer and consumer contexts, and the kernels that it launched. The rules are those of
`group_events.cc` (XLA), but marks made with `step_num` win over TensorFlow's own loops.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int32, Int64, Ints
from tfprof_nb.analysis.events.devices import has_tpu
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import framework
from tfprof_nb.analysis.events.links import RUNS, links, tf_data_steps
from tfprof_nb.analysis.events.removals import removals
from tfprof_nb.analysis.steps.tpu_spans import common_steps, steps_of_instructions, tpu_spans, whole_steps
from tfprof_nb.analysis.steps.unmarked import loop_iterations, unmarked_steps, unrecorded_calls
from tfprof_nb.formats.marks import END_OF_DATA, INTERRUPTED, ROOT, STEP_NUMBER

Source = Literal["marked", "keras", "device", "inferred", "none"]

# Our marks carry these where the end of the data or an exception closed them: such marks are no steps.
_UNFINISHED = (END_OF_DATA, INTERRUPTED)


@dataclass(frozen=True, eq=False)
class Grouping:
    """The step group of every event.

    Attributes
    ----------
    group
        Per event: the number of its group, -1 for none.
    spans
        The steps that the host's threads show: ``group start_ps end_ps``, and the ``event`` that names each, -1 for
        none.
    source
        How the groups were detected: ``marked`` by the user or by us, ``keras`` (its unfinished marks), ``device``
        (groups that only the devices' work gives a length), ``inferred`` from function calls, or ``none``.
    """

    group: Int32
    spans: pd.DataFrame
    source: Source

    def steps_of_events(self, groups: Int64, steps: Int64) -> Ints:
        """Return the step of every event, -1 for none; in 32 bits, unless numbers of steps need more.

        Parameters
        ----------
        groups, steps
            The groups that are steps, and the number of each step.
        """
        # The last is that of no group, -1.
        lookup: Ints = np.full(int(self.group.max(initial=-1)) + 2, -1, dtype=np.int64)
        lookup[groups] = steps
        if lookup.max() < 1 << 31:
            lookup = lookup.astype(np.int32)
        return lookup[self.group]


def group_events(forest: Forest) -> Grouping:
    """Group one host's events into steps."""
    if has_tpu([forest]):
        return _tpu_groups(forest)
    marks, source = _find_marks(forest)
    if len(forest.host.ints("group_id").rows) and _is_usable(forest, saved := _saved_groups(forest), marks):
        return saved
    if not len(marks):
        return _function_groups(forest) if forest.on_device.any() else _inferred_groups(forest)
    marked = _marked_groups(forest, marks, source)
    if forest.on_device.any():
        return marked
    if len(marked.spans):
        return _with_steps_beside(forest, marked, marks)
    unmarked = _inferred_groups(forest)
    return unmarked if len(unmarked.spans) else marked


def _tpu_groups(forest: Forest) -> Grouping:
    """Make a group of each step that all cores have, of what ran on them meanwhile."""
    spans, module = tpu_spans(forest)
    spans = common_steps(spans)
    group = np.full(len(forest.host), -1, dtype=np.int32)
    events, row = steps_of_instructions(forest, spans)
    numbers, steps = pd.factorize(spans["step"], sort=True)
    group[events] = pd.Series(numbers, spans.index).reindex(row).to_numpy(np.int64)
    whole = whole_steps(spans)
    whole["group"] = np.searchsorted(steps, whole["group"])
    source: Source = "none" if spans.empty else "inferred" if module else "device"
    return Grouping(group, whole, source)


def _is_usable(forest: Forest, saved: Grouping, marks: Int64) -> bool:
    """Whether the program that wrote the file (TensorFlow up to 2.10, or XProf) grouped its events into steps.

    Groups of a loop's iterations, which leave out the marks, are no steps; nor are those of functions that nothing
    marks, unless they reached a device.
    """
    grouped = saved.group >= 0
    if not grouped[marks].all():  # of several runs on one timeline some may be grouped
        return False
    return bool(grouped[forest.on_device].any()) if forest.on_device.any() else len(saved.spans) > 0


def _saved_groups(forest: Forest) -> Grouping:
    group = _saved_group(forest)
    is_mark = np.zeros(len(group), dtype=bool)
    is_mark[forest.host.texts("step_name").rows] = True
    is_mark |= forest.named_as_marks
    numbered = forest.named("TraceContext")
    numbered[forest.host.ints(STEP_NUMBER).rows] = True
    marks = np.flatnonzero(is_mark & (group >= 0) & forest.on_host)
    unmarked: Source = "device" if forest.on_device.any() else "inferred"
    return Grouping(
        group, _spans(forest, marks, group[marks].astype(np.int64)), "marked" if numbered[marks].any() else unmarked
    )


def _saved_group(forest: Forest) -> Int32:
    """Return the group that the file gives each event, -1 for none; numbers too large for a table are made smaller."""
    stat = forest.host.ints("group_id")
    values = stat.values.astype(np.int64)
    known = values >= 0
    group = np.full(len(forest.host), -1, dtype=np.int32)
    if values.max(initial=0) > 8 * len(group) + 1024:
        values[known], _ = pd.factorize(values[known], sort=True)
    group[stat.rows[known]] = values[known]
    return group


def _marked_groups(forest: Forest, marks: Int64, source: Source) -> Grouping:
    """Make a group of each mark; what ran outside of them belongs to no step."""
    marks = forest.outermost(marks)
    group = np.full(len(forest.host), -1, dtype=np.int32)
    group[marks] = np.arange(len(marks))
    linked = forest.once(links)
    elsewhere = forest.on_device.copy()
    elsewhere[linked[1]] = False  # of what a recorded launch started, the step is known
    _take_in_meanwhile(
        forest, group, marks, elsewhere | forest.on_host if forest.once(framework) == "pytorch" else elsewhere
    )
    _spread(forest, group, linked)
    unfinished = np.isin(marks, np.concatenate([forest.host.ints(stat).rows for stat in _UNFINISHED]))
    spans = _spans(forest, marks, np.arange(len(marks)))
    return Grouping(group, spans[~unfinished].reset_index(drop=True), source)


def _take_in_meanwhile(forest: Forest, group: Int32, marks: Int64, events: Bools) -> None:
    """Add, in place, to each mark the events that began during it, of those that nothing links to their step.

    Such are PyTorch's backward pass, on threads of its own, and work of a device whose launches were not recorded.
    """
    in_order = marks[np.argsort(forest.host.start_ps[marks], kind="stable")]
    outer = forest.levels[0] if forest.levels else marks[:0]
    outer = outer[events[outer] & (group[outer] < 0)]
    start = forest.host.start_ps[outer]
    at = np.searchsorted(forest.host.start_ps[in_order], start, side="right") - 1
    inside = (at >= 0) & (start < forest.ends_ps(in_order)[at])
    group[outer[inside]] = group[in_order[at[inside]]]


def _function_groups(forest: Forest) -> Grouping:
    """Make a group of each function run; what it ran on the devices gives the step its length."""
    roots = _function_runs(forest)
    if len(roots) < 2 and len(loop := loop_iterations(forest)):
        return _loop_groups(forest, loop, "device")
    group = np.full(len(forest.host), -1, dtype=np.int32)
    group[roots] = np.arange(len(roots))
    _spread(forest, group, forest.once(links))
    return Grouping(group, _spans(forest, roots[:0], roots[:0]), "device" if len(roots) else "none")


def _inferred_groups(forest: Forest) -> Grouping:
    """Make a step of each repeated function call, or of each pass of a loop that runs op by op."""
    runs, none = _function_runs(forest), np.zeros(0, dtype=np.int64)
    spans = unmarked_steps(forest, runs, unrecorded_calls(forest), none)
    if not len(spans) and len(loop := loop_iterations(forest)):
        return _loop_groups(forest, loop, "inferred")
    group = np.full(len(forest.host), -1, dtype=np.int32)
    _take_in_steps(forest, group, spans)
    return Grouping(group, spans, "inferred" if len(spans) else "none")


def _with_steps_beside(forest: Forest, marked: Grouping, marks: Int64) -> Grouping:
    """Add the steps that lie outside of the marks, if these take more time than the marked steps.

    Such is a loop of the user's own beside Keras' ``predict`` or ``evaluate``, which marks its steps.
    """
    runs, unrecorded = _function_runs(forest), unrecorded_calls(forest)
    runs, unrecorded = (some[marked.group[some] < 0] for some in (runs, unrecorded))
    calls = unmarked_steps(forest, runs, unrecorded, marks)
    begun = forest.host.start_ps[calls["event"].to_numpy(np.int64)]
    ends = np.sort(forest.ends_ps(marks))
    last = np.append(ends, -1)[np.searchsorted(ends, begun, side="right") - 1]
    calls["start_ps"] = np.maximum(calls["start_ps"], last)
    if (calls["end_ps"] - calls["start_ps"]).sum() <= (marked.spans["end_ps"] - marked.spans["start_ps"]).sum():
        return marked
    group = marked.group.copy()
    calls["group"] += int(group.max(initial=-1)) + 1
    _take_in_steps(forest, group, calls)
    spans = pd.concat([marked.spans, calls]).sort_values("start_ps", kind="stable", ignore_index=True)
    return Grouping(group, spans, "inferred")


def _take_in_steps(forest: Forest, group: Int32, spans: pd.DataFrame) -> None:
    """Add, in place, to each step what it ran and caused."""
    _take_in_events(forest, group, spans)
    # The call itself may nest in an event that began before the first step.
    group[spans["event"].to_numpy(np.int64)] = spans["group"]
    _spread(forest, group, forest.once(links))
    group[removals(forest)] = -1


def _take_in_events(forest: Forest, group: Int32, spans: pd.DataFrame) -> None:
    """Add, in place, what began in each span on its thread: of events that reach beyond it, what nests in them."""
    parent = forest.nesting.parent
    has_children = np.zeros(len(parent), dtype=bool)
    has_children[parent[parent >= 0]] = True
    threads = np.unique(forest.host.line[spans["event"].to_numpy(np.int64)])
    ends = spans.set_index("group")["end_ps"]
    for depth, level in enumerate(forest.levels):
        events = level[np.isin(forest.host.line[level], threads)]
        if depth:
            around = parent[events]
            group[events] = np.where(group[events] < 0, group[around], group[events])
        events = events[group[events] < 0]
        found = _span_of(forest, events, spans)
        inside = found >= 0
        inside[inside] = forest.ends_ps(events[inside]) <= ends.reindex(found[inside]).to_numpy()
        group[events] = np.where(inside | ~has_children[events], found, -1)


def _loop_groups(forest: Forest, loop: pd.DataFrame, source: Source) -> Grouping:
    """Make a group of each pass of a loop, from the first to the last of what it ran on the host."""
    group = np.full(len(forest.host), -1, dtype=np.int32)
    group[loop["event"]] = loop["group"]
    _spread(forest, group, forest.once(links))
    passes = loop.groupby("group", as_index=False).agg(start_ps=("start_ps", "min"), end_ps=("end_ps", "max"))
    spans = passes.assign(event=-1)
    return Grouping(group, spans.iloc[:0] if source == "device" else spans, source)


def _span_of(forest: Forest, events: Ints, spans: pd.DataFrame) -> Int64:
    """Return the group of the span in which each event starts, on the span's own thread; -1 for none."""
    group = np.full(len(events), -1, dtype=np.int64)
    for line, mine in spans.groupby(forest.host.line[spans["event"].to_numpy(np.int64)]):
        on_line = np.flatnonzero(forest.host.line[events] == line)
        start = forest.host.start_ps[events[on_line]]
        at = np.searchsorted(mine["start_ps"], start, side="right") - 1
        inside = (at >= 0) & (start < mine["end_ps"].to_numpy()[at])
        group[on_line[inside]] = mine["group"].to_numpy()[at[inside]]
    return group


def _spans(forest: Forest, marks: Int64, group: Int64) -> pd.DataFrame:
    """Return the longest mark of each group, in the form of `Grouping.spans`; ``group`` has one entry per mark."""
    start, end = forest.host.start_ps[marks], forest.ends_ps(marks)
    spans = pd.DataFrame({"group": group, "start_ps": start, "end_ps": end, "event": marks})
    longest = spans.assign(length=end - start).sort_values("length", ascending=False, kind="stable")
    return longest.drop_duplicates("group").drop(columns="length").sort_values("start_ps", ignore_index=True)


def _function_runs(forest: Forest) -> Int64:
    """Return the events of runtime roots (`FunctionRun`, `SessionRun`); those that tf.data runs are no steps."""
    roots = _roots(forest)
    if not len(roots):
        roots = np.flatnonzero(forest.named(*RUNS))  # TensorFlow 2.2 and 2.3 did not flag them
    ids = forest.host.ints("id").at(roots, missing=0)
    return forest.outermost(roots[forest.on_host[roots] & ~np.isin(ids, tf_data_steps(forest))])


def _find_marks(forest: Forest) -> tuple[Int64, Source]:
    numbered = forest.host.ints(STEP_NUMBER).rows
    marks = np.union1d(np.intersect1d(numbered, _roots(forest)), np.flatnonzero(forest.named("TraceContext")))
    marks = marks[forest.on_host[marks]]
    if len(marks):
        return marks, "marked"
    # Keras 3's TensorBoard callback numbers its batches but forgets `_r`.
    batches = numbered[(forest.named("Profiled batch") & forest.on_host)[numbered]]
    return batches, "keras" if len(batches) else "none"


def _roots(forest: Forest) -> Int64:
    """Return the events that the runtime flags as roots."""
    level = forest.host.ints(ROOT)
    return level.rows[level.values.astype(np.int64) > 0]


def _spread(forest: Forest, group: Int32, linked: tuple[Int32, Int32]) -> None:
    """Hand groups on in place, from parent to child and along the links, until nothing changes.

    ``group`` has one entry per event; ``linked`` are pairs of events, cause and effect.
    """
    causes, effects = linked
    none = np.iinfo(group.dtype).max
    while True:
        _inherit(forest, group)
        open_ = np.flatnonzero(group[effects] < 0)
        causes, effects = causes[open_], effects[open_]
        reached = np.flatnonzero(group[causes] >= 0)
        if not len(reached):
            return
        # Of several causes the earliest group wins, as in XLA, which takes roots in order of time.
        group[effects[reached]] = none
        np.minimum.at(group, effects[reached], group[causes[reached]])


def _inherit(forest: Forest, group: Int32) -> None:
    for level in forest.levels[1:]:
        open_ = level[group[level] < 0]
        group[open_] = group[forest.nesting.parent[open_]]
