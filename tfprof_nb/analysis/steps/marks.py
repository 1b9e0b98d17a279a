"""What the mark of each step says: its number, name, phase and epoch."""

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.analysis.steps.passes import FETCHES
from tfprof_nb.formats.marks import CELL_LINE, EPOCH, GRADIENTS, LOOP_LINE, PHASES, STEP_NUMBER

# Names of steps that have none of their own; a function may well be called `step`.
UNNAMED, BATCH, LOOP_PASS = "loop step", "batch", "pass"


def described(table: pd.DataFrame, forest: Forest, grouping: Grouping, spans: pd.DataFrame) -> pd.DataFrame:
    """Add ``number phase step_name epoch host`` to a table of steps; a step without a number has -1.

    Parameters
    ----------
    table
        One row per step.
    forest, grouping
        One host's events and their groups.
    spans
        The same steps, in the form of `Grouping.spans`.
    """
    marks = spans["event"].to_numpy(np.int64)
    marked = marks >= 0
    names = np.full(len(spans), UNNAMED, dtype=object)
    names[marked] = forest.host.names[forest.host.metadata[marks[marked]]]
    if grouping.source == "inferred":
        names = np.array([_of_pass(str(name)) for name in names], dtype=object)
    numbers, epoch = forest.ints_at(STEP_NUMBER, marks), forest.ints_at(EPOCH, marks)
    graph_types = forest.texts_at("graph_type", marks)
    phases = np.array([_phase(str(graph_type or name)) for name, graph_type in zip(names, graph_types, strict=True)])
    if grouping.source in ("inferred", "device"):
        phases = np.where(numbers >= 0, phases, _phases_by_gradients(forest, grouping, spans, numbers < 0))
    step_names = [f"{name} {number}" if number >= 0 else str(name) for name, number in zip(names, numbers, strict=True)]
    return table.assign(
        number=numbers,
        phase=phases,
        step_name=step_names,
        epoch=pd.arrays.IntegerArray(epoch, epoch < 0),
        host=forest.host.name,
    )


def _of_pass(event: str) -> str:
    """Return what the pass of a loop is called that begins with an event; a call has its own name."""
    if event.startswith(FETCHES):
        return BATCH
    return LOOP_PASS if event.startswith((CELL_LINE, LOOP_LINE, GRADIENTS)) else event


def _phase(mark: str) -> str:
    if mark == "Profiled batch":
        return "train"
    return next((phase for phase in PHASES if mark.lower().startswith(phase)), mark)


def _phases_by_gradients(forest: Forest, grouping: Grouping, spans: pd.DataFrame, unmarked: Bools) -> list[str]:
    """Take steps with gradients for training and the others for tests; without any gradients, all are one phase."""
    gradients = forest.names_with("gradient")[forest.host.metadata]
    trained = spans["group"].isin(np.unique(grouping.group[gradients])) & unmarked
    marks = spans["event"].to_numpy(np.int64)
    if (marks >= 0).all():  # of a function that sometimes trains, all steps are of the training
        trained = trained.groupby(forest.host.metadata[marks]).transform("any")
    return list(np.where(trained, "train", "test" if trained.any() else "step"))


def loops_of(forest: Forest, grouping: Grouping) -> frozenset[str]:
    """Return the places of the loops whose passes are steps, such as ``cell line 3`` or ``line 7 of train``."""
    events = grouping.spans["event"].to_numpy(np.int64)
    names = forest.host.names[np.unique(forest.host.metadata[events[events >= 0]])].astype(str).tolist()
    functions = [name.removeprefix(LOOP_LINE).rpartition(":") for name in names if name.startswith(LOOP_LINE)]
    in_functions = (f"line {line} of {function}" for function, _, line in functions)
    return frozenset((*in_functions, *(name for name in names if name.startswith(CELL_LINE))))
