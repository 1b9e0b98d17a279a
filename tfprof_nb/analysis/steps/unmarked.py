"""The steps of a program that marks none: repeated calls of functions, or the passes of a loop inside TensorFlow."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.links import EXECUTOR, keyed, tf_data_steps

# A function that takes less than this share of the time of all calls is a side show (a metric's update, say).
_MAIN_SHARE = 0.05


def repeated_calls(forest: Forest, runs: Int64) -> pd.DataFrame:
    """Return the steps that repeated calls suggest: ``group start_ps end_ps event``, in order of time.

    Parameters
    ----------
    forest
        One host's events.
    runs
        The events of the outermost function runs.
    """
    calls = _calls(forest, runs)
    by_name = calls.groupby("name")["length"]
    main = (by_name.transform("size") > 1) & (by_name.transform("sum") >= _MAIN_SHARE * calls["length"].sum())
    # The call's data is waited for before the call: a step begins where the previous call ended.
    previous_end = calls.groupby("line")["end_ps"].shift()
    follows = calls.groupby("line")["name"].shift() == calls["name"]
    calls["start_ps"] = calls["start_ps"].where(~follows, previous_end).astype(np.int64)
    steps = calls[main].reset_index(drop=True)
    return steps.assign(group=np.arange(len(steps)))[["group", "start_ps", "end_ps", "event"]]


def _calls(forest: Forest, runs: Int64) -> pd.DataFrame:
    """Return the calls that lead to the runs, by line and start: ``event name line start_ps length end_ps``.

    A call's event is the function's own where the runtime recorded one.
    """
    host = forest.host
    executes = np.flatnonzero(forest.name_starts("EagerLocalExecute:", "EagerExecute"))
    traced = host.texts("tf_function_call").rows
    execute, call = forest.nearest_ancestor(runs, executes), forest.nearest_ancestor(runs, traced)
    named = np.where(execute >= 0, executes[execute] if len(executes) else runs, runs)
    event = np.where(call >= 0, traced[call] if len(traced) else named, named)
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
