"""When the steps of each core of a TPU begin and end: as XLA recorded them, or by repeated modules."""

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb.analysis.events.devices import TPU
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.op_labels import on_instruction_line

STEPS_LINE, MODULES_LINE = "Steps", "XLA Modules"


def tpu_spans(forest: Forest) -> tuple[pd.DataFrame, str]:
    """Return each core's steps, ``plane step start_ps end_ps``, and the module that they are inferred from.

    They are on the line Steps. If no core has it, each run of the module that takes the most time begins a step; the
    module is empty if the steps were recorded.
    """
    marks = _events(forest, STEPS_LINE)
    if not on_instruction_line(forest).any():  # what the cores did is not in the file
        return marks.assign(step=0)[["plane", "step", "start_ps", "end_ps"]].iloc[:0], ""
    if len(marks):
        steps = forest.ints_at("group_id", marks["event"].to_numpy(np.int64))
        numbers = pd.to_numeric(marks["name"], errors="coerce").to_numpy()
        ordinal = marks.groupby("plane").cumcount().to_numpy()
        named = np.where(np.isfinite(numbers), numbers, np.where(steps >= 0, steps, ordinal)).astype(np.int64)
        return marks.assign(step=named)[["plane", "step", "start_ps", "end_ps"]], ""
    return _inferred(_events(forest, MODULES_LINE))


def _events(forest: Forest, line: str) -> pd.DataFrame:
    """Return the events of a line of every core: ``event plane name start_ps end_ps``, in order of time."""
    host = forest.host
    cores = [plane.name.startswith(TPU) and "SparseCore" not in plane.name for plane in host.planes]
    lines = [number for number, found in enumerate(host.lines) if found.name == line and cores[found.plane]]
    events = np.flatnonzero(np.isin(host.line, lines))
    frame = pd.DataFrame(
        {
            "event": events,
            "plane": forest.planes_of(events),
            "name": host.names[host.metadata[events]],
            "start_ps": host.start_ps[events],
            "end_ps": forest.ends_ps(events),
        }
    )
    return frame.sort_values(["plane", "start_ps"], kind="stable", ignore_index=True)


def _inferred(modules: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Let each run of the module that takes the most time begin a step, up to the last module before its next run."""
    length = (modules["end_ps"] - modules["start_ps"]).groupby(modules["name"]).sum()
    repeated = modules.groupby(["plane", "name"]).size().groupby("name").max()
    length = length[repeated[repeated > 1].index]
    if length.empty:
        return modules.assign(step=0)[["plane", "step", "start_ps", "end_ps"]].iloc[:0], ""
    main = str(length.idxmax())
    step = (modules["name"] == main).groupby(modules["plane"]).cumsum() - 1
    spans = modules.assign(step=step)[step >= 0].groupby(["plane", "step"], as_index=False)
    return spans.agg(start_ps=("start_ps", "min"), end_ps=("end_ps", "max")), main


def common_steps(spans: pd.DataFrame) -> pd.DataFrame:
    """Return the spans of the steps that all cores have."""
    cores = spans["plane"].nunique()
    return spans[spans.groupby("step")["plane"].transform("nunique") == cores]


def whole_steps(spans: pd.DataFrame) -> pd.DataFrame:
    """Return one row per step of all cores: ``group start_ps end_ps event``, as in `Grouping.spans`."""
    steps = spans.groupby("step", as_index=False).agg(start_ps=("start_ps", "min"), end_ps=("end_ps", "max"))
    return steps.sort_values("start_ps", ignore_index=True).rename(columns={"step": "group"}).assign(event=-1)


def steps_of_instructions(forest: Forest, spans: pd.DataFrame) -> tuple[Int64, Int64]:
    """Return the events of devices that lie in a step of their core, and each one's row in ``spans``."""
    events = np.flatnonzero(forest.on_device | on_instruction_line(forest))
    plane, start = forest.planes_of(events), forest.host.start_ps[events]
    row = np.full(len(events), -1, dtype=np.int64)
    for core, mine in spans.groupby("plane"):
        ordered = mine.sort_values("start_ps")
        on_core = np.flatnonzero(plane == core)
        at = np.searchsorted(ordered["start_ps"], start[on_core], side="right") - 1
        inside = (at >= 0) & (start[on_core] < ordered["end_ps"].to_numpy()[at])
        row[on_core[inside]] = ordered.index.to_numpy()[at[inside]]
    return events[row >= 0], row[row >= 0]
