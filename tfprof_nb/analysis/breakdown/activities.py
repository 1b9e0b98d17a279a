"""What TensorFlow does in each event of the main thread: the parts of which a cell's time is made."""

from enum import IntEnum

import numpy as np

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb.analysis.breakdown.main_thread import MainThread
from tfprof_nb.analysis.events.compilations import BACKENDS
from tfprof_nb.analysis.events.links import RUNS
from tfprof_nb.analysis.events.removals import REMOVAL, removals
from tfprof_nb.analysis.steps.passes import FETCHES
from tfprof_nb.analysis.steps.unmarked import unrecorded_calls
from tfprof_nb.formats.marks import MODEL_FILE, SESSION_CALL
from tfprof_nb.formats.xspace import DISPATCH, LOOK


class Doing(IntEnum):
    """What the main thread does: the outermost of nested events says it, after `CALLING`."""

    PYTHON = 0
    CALLING = 1  # TensorFlow takes an op's arguments, and finds its kernel
    OP = 2
    FUNCTION = 3  # waits for a function that it called
    WAITING = 4  # for a batch
    STARTING = 5  # a pass over the data
    ENDING = 6  # takes down an iterator
    TRACING = 7
    COMPILING = 8
    COPYING = 9
    SESSION = 10
    PROFILING = 11
    STORING = 12  # reads or writes a model


_CONVERSIONS = ("convert_to_tensor", "tf.constant", "EagerCopyToDevice")
_CALLS = ("TFE_Py_", "EagerExecute", "EagerKernelExecute", "KernelAndDeviceFunc::Run", "EagerLocalExecute", REMOVAL)
_FUNCTIONS = (f"{DISPATCH}__", f"{DISPATCH}PartitionedCall", f"{DISPATCH}StatefulPartitionedCall")
_STARTS = ("MakeIterator", f"{DISPATCH}MakeIterator", f"{DISPATCH}ReduceDataset")
_TRACES = ("tf.function-graph_building",)


def activities(thread: MainThread) -> tuple[Int64, Int64]:
    """Return per event what the thread does, and the event that says so (-1: none, Python runs)."""
    own = _of_names(thread)[thread.name]
    own[np.isin(thread.events, removals(thread.forest))] = Doing.ENDING
    sessions = thread.starts_with(SESSION_CALL)  # of a run that was recorded, its own event says more
    own[sessions & np.isin(thread.events, unrecorded_calls(thread.forest))] = Doing.FUNCTION
    doing = np.where(own < 0, Doing.PYTHON, own)
    anchor = np.where(own > 0, np.arange(len(own)), -1)
    for level in thread.inner_levels:
        above = thread.parent[level]
        kept = (own[level] < 0) | (doing[above] > Doing.CALLING) | ((doing[above] == Doing.CALLING) & (own[level] <= 1))
        doing[level] = np.where(kept, doing[above], doing[level])
        anchor[level] = np.where(kept, anchor[above], anchor[level])
    return doing, anchor


def _of_names(thread: MainThread) -> Int64:
    """Return per name what its events stand for, -1 for names that say nothing."""
    names = [str(name) for name in thread.names]

    def starting(prefixes: tuple[str, ...]) -> Bools:
        return np.array([name.startswith(prefixes) for name in names], dtype=bool)

    doing = np.full(len(names), -1, dtype=np.int64)
    for prefixes, meaning in (
        (("$",), Doing.PYTHON),
        (_CALLS, Doing.CALLING),
        ((DISPATCH,), Doing.OP),
        (_FUNCTIONS, Doing.FUNCTION),
        (RUNS, Doing.FUNCTION),
        (FETCHES, Doing.WAITING),
        (_STARTS, Doing.STARTING),
        (_TRACES, Doing.TRACING),
        (BACKENDS, Doing.COMPILING),
        (_CONVERSIONS, Doing.COPYING),
        ((LOOK,), Doing.PROFILING),
        ((MODEL_FILE,), Doing.STORING),
    ):
        doing[starting(prefixes)] = meaning
    return doing
