"""When each step of a host with devices begins and ends: by its mark, or by what ran on a device."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Int32
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.steps.activities import Activity
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.formats.marks import STEP_NUMBER


def spans_with_devices(
    forest: Forest, grouping: Grouping, activity: npt.NDArray[np.int16]
) -> tuple[pd.DataFrame, list[str]]:
    """Return the spans of steps, in the form of `Grouping.spans`, and notes.

    A step's span is the host's mark if that includes the device's work, else the device's work. A step without device
    work is excluded, as in XProf: the capture cut it off.

    Parameters
    ----------
    forest, grouping
        One host's events and their groups.
    activity
        Per event: its `Activity`.
    """
    device = _device_spans(forest, grouping)
    device = device[device["group"].isin(_computing_groups(forest, grouping, activity))]
    both = device.merge(grouping.spans, on="group", how="left", suffixes=("", "_host"))
    marked = (both["start_ps_host"] <= both["start_ps"]) & (both["end_ps_host"] >= both["end_ps"])
    spans = pd.DataFrame(
        {
            "group": both["group"],
            "start_ps": both["start_ps"].mask(marked, both["start_ps_host"]).astype(np.int64),
            "end_ps": both["end_ps"].mask(marked, both["end_ps_host"]).astype(np.int64),
            "event": both["event"].fillna(-1).astype(np.int64),
        }
    )
    spans = spans[spans["end_ps"] > spans["start_ps"]].sort_values("start_ps", ignore_index=True)
    excluded = grouping.spans.loc[~grouping.spans["group"].isin(device["group"]), "event"].to_numpy(np.int64)
    return spans, _notes(int((forest.ints_at(STEP_NUMBER, excluded) >= 0).sum()))


def _notes(excluded: int) -> list[str]:
    if not excluded:
        return []
    steps, were = ("step", "was") if excluded == 1 else ("steps", "were")
    return [f"{excluded} {steps} had no device work and {were} excluded."]


def _computing_groups(forest: Forest, grouping: Grouping, activity: npt.NDArray[np.int16]) -> Int32:
    """Return the groups of events that computed on a device, with repetitions.

    An event without length at the very end of its group does not count as computing.
    """
    group, end = grouping.group, forest.host.start_ps + forest.host.duration_ps
    computed = np.flatnonzero(activity >= Activity.DEVICE_COMPUTE_32)
    instant = forest.host.duration_ps[computed] == 0
    if not instant.any():
        return group[computed]
    working = activity != Activity.NONE
    working[grouping.spans["event"].to_numpy(np.int64)] = False
    last = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(last, group[working], end[working])
    computing: Int32 = group[computed[~instant | (end[computed] < last[group[computed]])]]
    return computing


def _device_spans(forest: Forest, grouping: Grouping) -> pd.DataFrame:
    """Return the longest stretch of device work of each group: ``group start_ps end_ps``, by start."""
    stretches = _saved_device_steps(forest, grouping)
    stretches = stretches if len(stretches) else _device_stretches(forest, grouping)
    length = (stretches["end_ps"] - stretches["start_ps"]).sort_values(ascending=False, kind="stable")
    return stretches.loc[length.index].drop_duplicates("group").sort_values("start_ps", ignore_index=True)


def _saved_device_steps(forest: Forest, grouping: Grouping) -> pd.DataFrame:
    """Return the steps that the file itself has: TensorFlow up to 2.10 stored each device's steps and their groups.

    Most of these versions ended such a step with the kernel that started last, even if others ran longer.
    """
    host = forest.host
    lines = forest.line_is_derived & np.array([line.name == "Steps" for line in host.lines], dtype=bool)
    saved = np.flatnonzero(lines[host.line] & (grouping.group >= 0))
    return pd.DataFrame(
        {"group": grouping.group[saved], "start_ps": host.start_ps[saved], "end_ps": forest.ends_ps(saved)}
    )


def _device_stretches(forest: Forest, grouping: Grouping) -> pd.DataFrame:
    """Return stretches of device work, from a group's first kernel to its last with no other group between them."""
    ran = np.flatnonzero(forest.on_device & (grouping.group >= 0))
    kernels = pd.DataFrame(
        {
            "plane": forest.planes_of(ran),
            "group": grouping.group[ran],
            "start_ps": forest.host.start_ps[ran],
            "end_ps": forest.ends_ps(ran),
        }
    ).sort_values(["plane", "start_ps"], kind="stable")
    changed = (kernels["group"] != kernels["group"].shift()) | (kernels["plane"] != kernels["plane"].shift())
    return kernels.groupby(changed.cumsum()).agg(
        group=("group", "first"), start_ps=("start_ps", "min"), end_ps=("end_ps", "max")
    )
