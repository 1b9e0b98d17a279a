"""The steps of a program that marks none: repeated calls of functions, or the passes of a loop inside TensorFlow."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.links import EXECUTOR, keyed, tf_data_steps
from tfprof_nb.analysis.events.recorded_ops import recorded_ops
from tfprof_nb.analysis.events.removals import removals
from tfprof_nb.analysis.steps.passes import eager_passes, fetches_of
from tfprof_nb.formats.marks import GRADIENTS, SESSION_CALL

_CALLED = "tf_function_call"  # a text of the event of a function's call from Python
# A function that takes less than this share of the time of all calls is a side show (a metric's update, say).
_MAIN_SHARE = 0.05
# A function that follows itself in less than this share of its calls follows another one, if it runs often enough.
_RARELY, _JOINED_SHARE = 0.1, 0.05
_MOST = 0.8  # of the gradients
_IN_EACH = 0.5  # of the steps: iterators that end in so many belong to them
# Functions beside a loop that runs op by op: far fewer calls than passes, and little of their time.
_MORE_PASSES, _SIDE_SHARE = 2, 0.2


def unmarked_steps(forest: Forest, runs: Int64, unrecorded: Int64, marks: Int64) -> pd.DataFrame:
    """Return the steps that nothing marks: ``group start_ps end_ps event``, in order of time.

    Parameters
    ----------
    runs
        The events of the outermost function runs.
    unrecorded
        Calls of functions without a run.
    marks
        The marks of other steps, if there are any: beside them, only passes of a loop that train are steps.
    """
    calls, passes = repeated_calls(forest, runs, unrecorded), eager_passes(forest)
    if len(marks):
        passes = _training_beside(forest, passes, marks)
    called_ps = int(forest.host.duration_ps[calls["event"].to_numpy(np.int64)].sum())
    passed_ps = int((passes["end_ps"] - passes["start_ps"]).sum())
    beside = len(passes) >= _MORE_PASSES * len(calls) and called_ps < _SIDE_SHARE * passed_ps
    return passes if beside and len(passes) else calls


def _training_beside(forest: Forest, passes: pd.DataFrame, marks: Int64) -> pd.DataFrame:
    """Return the passes in which gradients are computed and no marked step begins, if most gradients are in these."""

    def begun(events: Int64) -> Int64:
        starts = np.sort(forest.host.start_ps[events])
        return np.searchsorted(starts, passes["end_ps"]) - np.searchsorted(starts, passes["start_ps"])

    computed = np.flatnonzero(forest.name_starts(GRADIENTS))
    gradients = begun(computed)
    trains = (gradients > 0) & (begun(marks) == 0)
    most = gradients[trains].sum() >= _MOST * len(computed)
    return passes.iloc[np.flatnonzero(trains & most)].reset_index(drop=True)


def unrecorded_calls(forest: Forest) -> Int64:
    """Return the outermost calls of which no ops were recorded, and so no runs."""
    traced = _called(forest)
    start = forest.host.start_ps[traced]
    return forest.outermost(traced[~forest.once(recorded_ops).hold(start, forest.ends_ps(traced))])


def repeated_calls(forest: Forest, runs: Int64, unrecorded: Int64) -> pd.DataFrame:
    """Return the steps that repeated calls suggest: ``group start_ps end_ps event``.

    A step is a call, and the calls of other functions that follow it once each time. It begins with the wait for its
    data: where the step before it ended, or at the fetch before the call. ``unrecorded`` are calls without a run.
    """
    calls = _calls(forest, runs, unrecorded)
    by_name = calls.groupby("name")["length"]
    main = (by_name.transform("size") > 1) & (by_name.transform("sum") >= _MAIN_SHARE * calls["length"].sum())
    calls = calls[main].reset_index(drop=True)
    if calls.empty:
        return calls[["event", "start_ps", "end_ps"]].assign(group=0)
    calls["step"] = _begins(calls).cumsum()
    steps = calls.groupby("step", as_index=False).agg(
        event=("event", "first"),
        name=("name", "first"),
        line=("line", "first"),
        start_ps=("start_ps", "first"),
        end_ps=("end_ps", "last"),
    )
    steps["start_ps"] = _with_waits(forest, steps)
    steps = steps.sort_values("start_ps", kind="stable", ignore_index=True)
    return steps.assign(group=np.arange(len(steps)))[["group", "start_ps", "end_ps", "event"]]


def _called(forest: Forest) -> Int64:
    """Return the calls of functions and sessions from Python."""
    return np.union1d(forest.host.texts(_CALLED).rows, np.flatnonzero(forest.named(SESSION_CALL)))


def _begins(calls: pd.DataFrame) -> pd.Series[bool]:
    """Return per call whether it begins a step: all calls of functions but those that follow another one each time."""
    before = calls.groupby("line")["name"].shift()
    again = (before == calls["name"]).groupby(calls["name"]).mean()
    count = calls.groupby("name").size()
    first = calls["name"].iloc[0]
    leading = [name for name in again.index if again[name] > _RARELY] or [first]
    often = count >= _JOINED_SHARE * count[leading].max()
    joined = [name for name in again.index if name not in leading and often[name]]
    return ~calls["name"].isin(joined) | before.isna()


def _with_waits(forest: Forest, steps: pd.DataFrame) -> Int64:
    """Return when each step of ``name line start_ps end_ps`` begins if it includes the wait for its data."""
    host = forest.host
    fetches, removed = fetches_of(forest), removals(forest)
    start = steps["start_ps"].to_numpy(np.int64).copy()
    previous = steps.groupby("line")["end_ps"].shift(fill_value=-1).to_numpy(np.int64)
    follows = (steps.groupby("line")["name"].shift() == steps["name"]).to_numpy()
    for line in np.unique(steps["line"]):
        mine = np.flatnonzero(steps["line"] == line)
        fetched = np.sort(host.start_ps[fetches[host.line[fetches] == line]])
        at = np.searchsorted(fetched, start[mine], side="right") - 1
        waits_from = np.append(fetched, -1)[at]
        wait = np.where(waits_from >= previous[mine], waits_from, start[mine])
        start[mine] = np.where(follows[mine], previous[mine], np.where(waits_from >= 0, wait, start[mine]))
        ended = np.sort(forest.ends_ps(removed[host.line[removed] == line]))
        last = np.append(ended, -1)[np.searchsorted(ended, steps["start_ps"].to_numpy()[mine], side="right") - 1]
        if (last > previous[mine]).mean() < _IN_EACH:  # else the loop itself makes and ends one for each batch
            start[mine] = np.maximum(start[mine], last)
    return start


def _calls(forest: Forest, runs: Int64, unrecorded: Int64) -> pd.DataFrame:
    """Return the calls that lead to the runs, and others, in order: ``event name line start_ps length end_ps``.

    A call's event is the function's own where the runtime recorded one.
    """
    host = forest.host
    executes = np.flatnonzero(forest.name_starts("EagerLocalExecute:", "EagerExecute"))
    traced = _called(forest)
    execute, call = forest.nearest_ancestor(runs, executes), forest.nearest_ancestor(runs, traced)
    named = np.where(execute >= 0, executes[execute] if len(executes) else runs, runs)
    event = np.append(np.where(call >= 0, traced[call] if len(traced) else named, named), unrecorded)
    named, call = np.append(named, unrecorded), np.append(call, np.zeros_like(unrecorded))
    # A function that is traced again runs under a new name each time; its own event keeps its name.
    name = host.names[host.metadata[np.where(call >= 0, event, named)]]
    calls = pd.DataFrame({"event": event, "name": name, "line": host.line[event]}).drop_duplicates("event")
    event = calls["event"].to_numpy(np.int64)
    calls["start_ps"] = host.start_ps[event]
    calls["length"] = host.duration_ps[event]
    calls["end_ps"] = calls["start_ps"] + calls["length"]
    return calls.sort_values(["line", "start_ps"], ignore_index=True)


def loop_iterations(forest: Forest) -> pd.DataFrame:
    """Return what executors ran for each pass of a loop.

    Returns
    -------
    DataFrame
        ``event group start_ps end_ps`` for each of these events; passes are numbered in order of time. A step id of
        which only iteration 0 ran is no loop, and the loops of tf.data do not count (`group_events.cc`, XLA).
    """
    runs = keyed(forest, "id", "iter_num")
    runs = runs.take(forest.named(EXECUTOR)[runs.events] & ~np.isin(runs.first, tf_data_steps(forest)))
    events = pd.DataFrame(
        {
            "event": runs.events,
            "step": runs.first,
            "pass": runs.second,
            "start_ps": forest.host.start_ps[runs.events],
            "end_ps": forest.ends_ps(runs.events),
        }
    )
    events = events[events.groupby("step")["pass"].transform("max") > 0].sort_values("start_ps", kind="stable")
    return events.assign(group=events.groupby(["step", "pass"], sort=False).ngroup())
