"""What the stacks of the main thread say: the user's line that ran, and what it called that has a name of its own."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64, Objects
from tfprof_nb._units import PS_PER_NS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import keras_backend
from tfprof_nb.analysis.python import Frames, frames_of_stacks, users_lines
from tfprof_nb.decode.sections.python import PythonStacks

KERAS, TENSORFLOW = "Keras", "TensorFlow"
_LOADING = (
    "load_model",
    "load_weights",
    "load",
    "load_own_variables",
    "restore",
    "from_saved_model",
    "import_meta_graph",
)
_SAVING = ("save_model", "save_weights", "save", "export", "write_graph", "save_own_variables")
# Calls that run the model, and whose parts have names of their own.
_RUNNING = ("fit", "evaluate", "predict", "__call__", "call", "train_on_batch", "test_on_batch", "predict_on_batch")
_OPTIMIZING = ("apply_gradients", "apply", "minimize")
_KERAS_CALLS = ("fit", "evaluate", "predict")
# Functions of a session in which time passes, outside of the run of the graph itself.
_SESSION_CALLS = {
    "_extend_graph": "extending the graph",
    "_call_tf_sessionrun": "feeding and fetching",
    "_call_tf_sessionprun": "feeding and fetching",
    "_run": "preparing the run",
    "close": "closing the session",
    "__init__": "starting the session",
}
NEAR = 3  # intervals
_NOBODYS = "no code of yours"


@dataclass(frozen=True, eq=False)
class SampledCode:
    """The samples of the main thread.

    Attributes
    ----------
    at_ps
        Per sample: when it was taken, ascending.
    code
        Per sample: a row of `codes`.
    interval_ps
        The time from one sample to the next.
    codes
        What runs, a row per distinct one: ``kind name place``, and ``whole``, whether all that TensorFlow runs
        meanwhile is part of it.
    call_place
        Per sample: the line that called ``fit``, ``evaluate`` or ``predict``; empty if none is running.
    stack, lines
        Per sample: its stack; and the user's lines on each stack, innermost first: ``stack place``.
    feeders
        Samples of the threads that feed pipelines: ``at_ps place``.
    """

    at_ps: Int64
    code: Int64
    interval_ps: int
    codes: pd.DataFrame
    call_place: Objects
    stack: Int64
    lines: pd.DataFrame
    feeders: pd.DataFrame

    def ends_ps(self) -> Int64:
        """Return the times between which samples say what ran: none stands for more than three intervals around it."""
        reach = NEAR * self.interval_ps
        apart = np.flatnonzero(np.diff(self.at_ps) > 2 * reach)
        begins = np.concatenate([self.at_ps[:1], self.at_ps[apart + 1]]) - reach
        return np.concatenate([begins, self.at_ps[apart] + reach, self.at_ps[-1:] + reach])

    def nearest(self, times_ps: Int64) -> Int64:
        """Return the sample nearest to each time, -1 if there is none within three intervals."""
        if not len(self.at_ps):
            return np.full(len(times_ps), -1, dtype=np.int64)
        after = np.searchsorted(self.at_ps, times_ps).clip(0, len(self.at_ps) - 1)
        before = np.maximum(after - 1, 0)
        nearer = np.abs(self.at_ps[before] - times_ps) <= np.abs(self.at_ps[after] - times_ps)
        sample = np.where(nearer, before, after)
        near = np.abs(self.at_ps[sample] - times_ps) <= NEAR * self.interval_ps
        return np.where(near, sample, -1)


def sampled_code(forest: Forest, stacks: PythonStacks, labels: Mapping[str, str]) -> SampledCode:
    """Return what the samples of the main thread say; ``labels`` are names of cells by the names of their files."""
    began_ns = forest.host.began_ns
    chosen = np.flatnonzero(stacks.thread == 0) if began_ns else np.zeros(0, dtype=np.int64)
    feeding = np.flatnonzero(stacks.thread > 0) if began_ns else chosen
    frames = frames_of_stacks(stacks, labels)
    backend = forest.once(keras_backend)
    of_stack = _codes(stacks, frames, f"Keras on {backend}" if backend else "Keras' own work")
    codes: Int64 = np.zeros(0, dtype=np.int64)
    rows = of_stack.drop_duplicates(ignore_index=True)
    if len(of_stack):
        keys = ["kind", "name", "place", "whole"]
        codes = of_stack.groupby(keys, sort=False).ngroup().to_numpy().astype(np.int64)
        rows = of_stack[keys].drop_duplicates(ignore_index=True)
    stack = stacks.stack[chosen]
    return SampledCode(
        (stacks.time_ns[chosen] - began_ns) * PS_PER_NS,
        codes[stack],
        stacks.interval_ns * PS_PER_NS,
        rows,
        of_stack["call_place"].to_numpy(dtype=object)[stack],
        stack,
        pd.DataFrame({"stack": stacks.frame_stack, "place": list(frames.place)})[frames.users],
        pd.DataFrame(
            {
                "at_ps": (stacks.time_ns[feeding] - began_ns) * PS_PER_NS,
                "place": of_stack["place"].to_numpy(dtype=object)[stacks.stack[feeding]],
            }
        ),
    )


def _codes(stacks: PythonStacks, frames: Frames, keras_itself: str) -> pd.DataFrame:
    """Return per stack what runs: ``kind name place whole call_place``."""
    lines = users_lines(stacks)
    count = len(lines)
    short = np.array([str(name).rpartition(".")[2] for name in frames.name], dtype=object)
    of_library = ~frames.users & np.isin(frames.library, (KERAS, TENSORFLOW))
    place = np.append(np.array(frames.place, dtype=object), "")
    users = frames.users
    loads, saves = (_chosen_frames(of_library & np.isin(short, names), stacks, count) for names in (_LOADING, _SAVING))
    calls = _chosen_frames(of_library & np.isin(short, _KERAS_CALLS) & (frames.library == KERAS), stacks, count)
    innermost = _first_of(users, np.zeros(count, dtype=np.int64), frames.start)
    kind = np.where(innermost >= 0, "python", "unexplained").astype(object)
    library, call = lines["library"].to_numpy(dtype=object), lines["call"].to_numpy(dtype=object)
    called = np.array([str(name).rpartition(".")[2] for name in call], dtype=object)
    name = np.where(library != "", library + "." + called, call)
    at = place[innermost]
    keras = library == KERAS
    kind[keras] = "keras"
    whole = keras & ~np.isin(called, _RUNNING)
    name[keras] = call[keras]
    name[np.isin(called, _KERAS_CALLS) & keras] = keras_itself
    sessions = frames.library == TENSORFLOW
    sessions &= np.array([str(one) in _SESSION_CALLS for one in short], dtype=bool) & _in_sessions(stacks)
    within = _chosen_frames(sessions, stacks, count, innermost=True)
    inside = within >= 0
    kind[inside] = "session"
    name[inside] = [_SESSION_CALLS[str(one)] for one in short[within[inside]]]
    ours = library == "tfprof_nb"
    kind[ours], name[ours] = "other", "tfprof_nb"
    optimizing = whole & np.isin(called, _OPTIMIZING)
    kind[optimizing] = "optimizer"
    for found, its in ((loads, "load"), (saves, "save")):
        there = found >= 0
        kind[there], whole[there], name[there] = its, True, np.append(short, "")[found[there]]
        at[there] = place[_first_of(users, found, frames.start)[there]]
    outside = _first_of(users, calls, frames.start)
    call_place = np.where(calls >= 0, place[outside], "")
    name[(innermost < 0) & (loads < 0) & (saves < 0)] = _NOBODYS
    return pd.DataFrame({"kind": kind, "name": name, "place": at, "whole": whole, "call_place": call_place})


def _chosen_frames(chosen: Bools, stacks: PythonStacks, count: int, *, innermost: bool = False) -> Int64:
    """Return the outermost (or innermost) chosen frame of each stack, -1 for none; frames stand innermost first."""
    found = np.full(count, -1, dtype=np.int64)
    frames = np.flatnonzero(chosen)[:: -1 if innermost else 1]
    found[stacks.frame_stack[frames]] = frames  # the last of a stack counts
    return found


def _in_sessions(stacks: PythonStacks) -> Bools:
    """Return per frame whether it is of TensorFlow 1's sessions."""
    files = np.array([str(file).endswith("client/session.py") for file in stacks.function_file], dtype=bool)
    return files[stacks.place_function[stacks.frame_place]] if len(files) else np.zeros(0, dtype=bool)


def _first_of(chosen: Bools, after: Int64, start: Int64) -> Int64:
    """Return per stack its first chosen frame at or after a frame, or after the stack's begin; -1 for none."""
    count = len(after)
    follows = np.append(np.where(chosen, np.arange(len(chosen)), len(chosen)), len(chosen))
    nearest = np.minimum.accumulate(follows[::-1])[::-1]
    first = nearest[np.maximum(after, start[:count]).clip(0, len(chosen))]
    return np.where(first < start[1 : count + 1], first, -1)
