"""Loops that run inside TensorFlow: each pass of one can be a step of a program that marks none."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.links import EXECUTOR, keyed, tf_data_steps


def loop_iterations(forest: Forest) -> pd.DataFrame:
    """Return what executors ran for each pass of a loop.

    Returns
    -------
    DataFrame
        ``row group start_ps end_ps`` for each of these events; passes are numbered in order of time. A step id of
        which only iteration 0 ran is no loop, and what tf.data loops over does not count (`group_events.cc`, XLA).
    """
    runs = keyed(forest, "id", "iter_num")
    runs = runs.take(forest.named(EXECUTOR)[runs.rows] & ~np.isin(runs.first, tf_data_steps(forest)))
    start = forest.host.start_ps[runs.rows]
    end = start + forest.host.duration_ps[runs.rows]
    events = pd.DataFrame({"row": runs.rows, "step": runs.first, "pass": runs.second, "start_ps": start, "end_ps": end})
    events = events[events.groupby("step")["pass"].transform("max") > 0].sort_values("start_ps", kind="stable")
    return events.assign(group=events.groupby(["step", "pass"], sort=False).ngroup())
