"""Calls of functions that repeat: the steps of a program that marks none."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.forest import Forest

# A function that takes less than this share of the time of all calls is a side show (a metric's update, say).
_MAIN_SHARE = 0.05


def repeated_calls(forest: Forest, runs: Int64) -> pd.DataFrame:
    """Return the steps that repeated calls suggest: ``group start_ps end_ps row``, in order of time.

    Parameters
    ----------
    forest
        One host's events.
    runs
        Rows of the outermost function runs.
    """
    calls = _calls(forest, runs)
    by_name = calls.groupby("name")["length"]
    main = (by_name.transform("size") > 1) & (by_name.transform("sum") >= _MAIN_SHARE * calls["length"].sum())
    # Waiting for the call's data comes before the call: a step begins where the previous call ended.
    previous_end = calls.groupby("line")["end_ps"].shift()
    follows = calls.groupby("line")["name"].shift() == calls["name"]
    calls["start_ps"] = calls["start_ps"].where(~follows, previous_end).astype(np.int64)
    steps = calls[main].reset_index(drop=True)
    return steps.assign(group=np.arange(len(steps)))[["group", "start_ps", "end_ps", "row"]]


def _calls(forest: Forest, runs: Int64) -> pd.DataFrame:
    """The calls that lead to the runs, named by function; the function's own event where the runtime wrote one."""
    host = forest.host
    executes = np.flatnonzero(forest.name_starts("EagerLocalExecute:", "EagerExecute"))
    traced = host.texts("tf_function_call").rows
    execute, call = forest.nearest_ancestor(runs, executes), forest.nearest_ancestor(runs, traced)
    named = np.where(execute >= 0, executes[execute] if len(executes) else runs, runs)
    rows = np.where(call >= 0, traced[call] if len(traced) else named, named)
    # A function that is traced again runs under a new name each time; its own event keeps its name.
    name = host.names[host.metadata[np.where(call >= 0, rows, named)]]
    frame = pd.DataFrame({"row": rows, "name": name, "line": host.line[rows]})
    frame = frame.drop_duplicates("row")
    rows = frame["row"].to_numpy(np.int64)
    frame["start_ps"] = host.start_ps[rows]
    frame["length"] = host.duration_ps[rows]
    frame["end_ps"] = frame["start_ps"] + frame["length"]
    return frame.sort_values(["line", "start_ps"], ignore_index=True)
