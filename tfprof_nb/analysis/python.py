"""What Python did during the capture: time by function and line, from samples of stacks; and time in Keras callbacks.

A sample stands for the time from halfway to the sample before it to halfway to the sample after it. It belongs to the
innermost line of the user's code on the stack: time in libraries is that of the line that called them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Floats, Int64, Objects
from tfprof_nb._units import NS_PER_MS, PS_PER_MS, PS_PER_NS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import not_for
from tfprof_nb.analysis.events.intervals import covered_at
from tfprof_nb.analysis.events.main_line import main_line
from tfprof_nb.analysis.events.python_ops import python_calls
from tfprof_nb.analysis.events.recorded_ops import recorded_ops
from tfprof_nb.analysis.events.removals import removals
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.analysis.steps.activities import Activity, classify, tracing_spans
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.decode.sections.python import PythonStacks
from tfprof_nb.formats.marks import CALLBACK
from tfprof_nb.formats.xspace import DISPATCH

_OF_STEPS = ["in_steps_ms", "between_steps_ms", "outside_ms", "waiting_ms", "ops_ms", "nothing_ms"]
COLUMNS = [
    "function",
    "file",
    "line",
    "self_ms",
    "total_ms",
    "in_steps_ms",
    "between_steps_ms",
    "outside_ms",
    "samples",
    "thread",
    "library",
    "waiting_ms",
    "ops_ms",
    "nothing_ms",
    "called_from",
]
CALL_COLUMNS = [
    *("function", "file", "line", "thread", "library", "call", "self_ms"),
    *(*_OF_STEPS, "graphs_ms", "eager_ms", "samples"),
]
NESTED_COLUMNS = ["function", "file", "line", "called", "called_file", "eager_ms", "python_ms"]
CALLBACK_COLUMNS = ["callback", "method", "calls", "total_ms", "per_step_ms", "measured_ms"]
_BLOCK = 1 << 18  # of events
_TIMES = ["self_ms", *_OF_STEPS, "graphs_ms", "eager_ms", "other_ms"]
EAGER_IN = ("Keras", "TensorFlow")
# Libraries in which a line of the user's spends its time when it only starts training, such as that of model.fit.
FRAMEWORKS = (*EAGER_IN, "tfprof_nb")
# Calls that run a graph, wait for what one gives, or are AutoGraph's, which calls what it converts only to trace it.
RUNS_GRAPHS = (
    r"converted_call|Function\.__call__|Trainer\.|on_batch|Iterator"
    r"|\.(?:numpy|__float__|__int__|__index__|__bool__|__array__)$"
)
# Those of them that run a step of a model.
STARTS_STEPS = r"Function\.__call__|Trainer\.|on_batch"
# Calls that make, read or write something.
MAKES = r"__(?:init|new)__$|^Sequential\.|^Dataset|\bbuild(?:_wrapper)?$|[Ss]ave|[Ll]oad|summary|weights$|compile"
MAKES += r"|^no_automatic_dependency_tracking"  # Keras sets up models, layers and optimizers in it
# Comprehensions are functions of their own until Python 3.12; Keras and TensorFlow wrap what they offer.
_INNER = re.compile(r"(\.<locals>)?\.<(listcomp|genexpr|dictcomp|setcomp)>")
_INNER_OF_MODULE = re.compile(r"<(listcomp|genexpr|dictcomp|setcomp)>")
_STANDARD_LIBRARY = re.compile(r"python3\.\d+")
# What Keras and TensorFlow wrap their functions in.
_WRAPPERS, _WRAPPERS_DEEP = ("error_handler", "op_dispatch_handler"), 4
LONGEST_GAP = 10  # intervals: a sample stands for no more time than that, however late the next one came
_NOTHING = (
    "This profile has no samples of Python: it was recorded elsewhere, or with --no-python. Capture with %%tfprofile "
    "or tfprof_nb.profile()."
)
_SUMS = (
    "Python ran on {} threads beside the main one: times of lines there are sums, and can exceed the time that passed."
)
_NO_USER_CODE = "no code of yours"
_PACKAGES = {"keras": "Keras", "tf_keras": "Keras", "tensorflow": "TensorFlow", "numpy": "NumPy", "PIL": "Pillow"}


@dataclass(eq=False, kw_only=True)
class Python(Result):
    """Python by function and line, sampled; `table` has the lines with the most time of their own first.

    Attributes
    ----------
    callbacks
        Time in methods of Keras callbacks, which is measured and not sampled: ``callback method calls total_ms
        per_step_ms measured_ms``, the longest first. ``per_step_ms`` is the time per step of the capture,
        ``measured_ms`` the time of calls that began in measured steps.
    calls
        The time of each line's own by what it called, a function of a library or nothing: ``function file line thread
        library call self_ms in_steps_ms between_steps_ms outside_ms waiting_ms ops_ms nothing_ms graphs_ms eager_ms
        samples``.
        ``graphs_ms`` is the time, in steps and between them, in which a graph ran or was made: a tf.function, or its
        gradient.
        ``eager_ms`` is the time of calls whose ops run eagerly: no graph runs, is made or is waited for.
    nested
        Times by each line of the main thread's stacks, not only the innermost, and by the user's function that it
        called then, empty for none: ``function file line called called_file eager_ms python_ms``. ``python_ms`` is the
        time, in steps and between them, in which TensorFlow recorded nothing, and neither it nor Keras was called.
    """

    callbacks: pd.DataFrame
    calls: pd.DataFrame
    nested: pd.DataFrame

    @property
    def eager(self) -> pd.DataFrame:
        """The time of eager ops, by each line of the main thread's stacks and what it called."""
        return self.nested.loc[self.nested["eager_ms"] > 0, NESTED_COLUMNS[:-1]]


def python(
    forests: Sequence[Forest],
    groupings: Sequence[Grouping],
    steps: Steps,
    stacks: Sequence[PythonStacks],
    labels: Mapping[str, str],
) -> Python:
    """Share out the time of Python's threads among the lines of the user's code.

    The table's columns are ``function file line self_ms total_ms in_steps_ms between_steps_ms outside_ms samples thread
    library waiting_ms ops_ms nothing_ms called_from``. ``self_ms`` is the time in which the line was the innermost of
    the user's code, ``total_ms`` the time in which it was on the stack. ``self_ms`` is the sum of ``in_steps_ms``,
    ``between_steps_ms`` and ``outside_ms``, the time before the first step and after the last; ``in_steps_ms`` is the
    sum of ``waiting_ms`` (the step waited for its data), ``ops_ms`` (ops ran) and ``nothing_ms`` (TensorFlow recorded
    nothing). ``thread`` is ``main``, the thread that began the capture,
    ``graph``, one in which a graph of the program calls Python, or ``tf.data``, one in which a pipeline does, or Keras
    makes batches. ``library`` is the package in which the line spent most of its own time, if it called one;
    ``called_from`` the line of the user's that called the function.

    Parameters
    ----------
    labels
        The names of notebook cells by the names of the files that they were compiled as.

    Returns
    -------
    Python
        Its summary has ``interval_ms``, ``samples`` and ``accounted_percent``: the part of the steps' ``other_ms`` for
        which there are samples.
    """
    every = list(zip(forests, groupings, stacks, strict=True))
    sampled = [host for host in every if len(host[2].time_ns)] or every[:1]
    hosts = [_host(*host, steps, labels) for host in sampled]
    table, calls, nested = (pd.concat(parts, ignore_index=True) for parts in zip(*hosts, strict=True))
    table, calls = (
        rows.sort_values("self_ms", ascending=False, kind="stable", ignore_index=True) for rows in (table, calls)
    )
    accounted_ms, other_ms = float(table["other_ms"].sum()), float(steps.table["other_ms"].sum())
    callbacks = _callbacks(forests, steps)
    summary: dict[str, Any] = {
        "interval_ms": max((one.interval_ns for one in stacks), default=0) / NS_PER_MS,
        "samples": int(table["samples"].sum()),
        "accounted_percent": min(100.0, 100 * accounted_ms / other_ms) if other_ms > 0 else float("nan"),
    }
    notes = [*_threads_note(stacks)] if summary["samples"] else [not_for(forests, "samples of Python") or _NOTHING]
    return Python(
        table[COLUMNS], summary, notes, callbacks=callbacks, calls=calls[CALL_COLUMNS], nested=nested[NESTED_COLUMNS]
    )


def _threads_note(stacks: Sequence[PythonStacks]) -> Iterator[str]:
    feeders = max((len(np.unique(one.thread[one.thread > 0])) for one in stacks), default=0)
    if feeders > 1:
        yield _SUMS.format(feeders)


def _host(
    forest: Forest, grouping: Grouping, stacks: PythonStacks, steps: Steps, labels: Mapping[str, str]
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return one host's rows by line, by line and call, and by each line of a stack.

    The former have the results' columns, and ``other_ms``, the time while a step's ``other`` went on.
    """
    samples = _without_removals(forest, _samples(forest, stacks))
    spans = steps.table[steps.table["host"] == forest.host.name]
    samples = _with_activity(samples, forest, grouping, spans)
    of_stack = users_lines(stacks)
    samples = samples.join(of_stack, on="stack")
    runs_ops = samples["library"].isin(EAGER_IN) & ~samples["call"].astype(str).str.contains(f"{RUNS_GRAPHS}|{MAKES}")
    samples["eager_ms"] = samples["eager_ms"].where(runs_ops, 0.0)
    in_python = ~samples["library"].isin(FRAMEWORKS)
    samples["python_ms"] = (samples["nothing_ms"] + samples["between_steps_ms"]).where(in_python, 0.0)
    keys = ["place", "thread"]
    by_line = samples.groupby(keys)
    rows = by_line[_TIMES].sum().assign(samples=by_line.size()).join(_totals(samples, stacks))
    for column in ("library", "caller"):
        rows[column] = _most(samples, keys, column)
    rows["total_ms"] = rows["total_ms"].fillna(rows["self_ms"])
    by_call = samples.groupby([*keys, "library", "call"])
    calls = by_call[_TIMES].sum().assign(samples=by_call.size())
    named = _named(rows.reset_index(), stacks, labels)
    named["called_from"] = _places(rows["caller"].to_numpy(np.int64), stacks, labels)
    return named, _named(calls.reset_index(), stacks, labels), _nested(samples, stacks, labels)


def _most(samples: pd.DataFrame, keys: list[str], column: str) -> pd.Series:
    """Return the value of a column that has most of each group's time."""
    time = samples.groupby([*keys, column])["self_ms"].sum().sort_values().reset_index()
    return time.drop_duplicates(keys, keep="last").set_index(keys)[column]


def _samples(forest: Forest, stacks: PythonStacks) -> pd.DataFrame:
    """Return the samples within the recording: ``at_ps thread stack self_ms``, times from the profile's start."""
    host = forest.host
    frame = pd.DataFrame({"time_ns": stacks.time_ns - host.began_ns, "thread": stacks.thread, "stack": stacks.stack})
    end_ns = host.ended_ns - host.began_ns if host.ended_ns else np.inf
    frame = frame[(frame["time_ns"] >= 0) & (frame["time_ns"] <= end_ns)] if host.began_ns else frame.iloc[:0]
    # All threads are sampled at once. One that is not there at the next time has ended its call by then: tf.data moves
    # calls from thread to thread.
    times, at = np.unique(frame["time_ns"].to_numpy(np.int64), return_inverse=True)
    gaps = np.minimum(np.diff(times), LONGEST_GAP * stacks.interval_ns)
    before, after = np.insert(gaps, 0, stacks.interval_ns)[at], np.append(gaps, stacks.interval_ns)[at]
    return pd.DataFrame(
        {
            "at_ps": frame["time_ns"] * PS_PER_NS,
            "thread": np.where(
                frame["thread"] == 0, "main", np.where(_in_graphs(forest, stacks, frame), "graph", "tf.data")
            ),
            "stack": frame["stack"],
            "self_ms": (before + after) / 2 / NS_PER_MS,
        }
    )


def _in_graphs(forest: Forest, stacks: PythonStacks, samples: pd.DataFrame) -> Bools:
    """Return per sample whether it is of a function that graphs of the program call, and not pipelines.

    Both may call Python at a time: what a function is for, the other times tell.
    """
    if not samples["thread"].any():  # the main thread runs no function of a graph
        return np.zeros(len(samples), dtype=bool)
    calls, at = forest.once(python_calls), samples["time_ns"].to_numpy(np.int64) * PS_PER_NS
    if not len(calls.of_pipelines):
        return np.full(len(samples), len(calls.of_graphs) > 0)
    of_graphs, of_pipelines = (
        covered_at(forest.host.start_ps[events], forest.ends_ps(events), at).astype(np.int64) for events in calls
    )
    place = users_lines(stacks)["place"].to_numpy(np.int64)[samples["stack"]]
    function = np.where(place < 0, -1, stacks.place_function[place])
    votes = pd.Series(np.where(samples["thread"] > 0, of_graphs - of_pipelines, 0)).groupby(function).transform("sum")
    return votes.to_numpy() > 0


def _without_removals(forest: Forest, samples: pd.DataFrame) -> pd.DataFrame:
    """Leave out the samples of the main thread while it takes down an old iterator: no line asked for that."""
    if samples.empty:
        return samples
    rows, main = removals(forest), forest.once(main_line)
    rows = rows[forest.host.line[rows] == main] if main >= 0 else rows
    removing = covered_at(forest.host.start_ps[rows], forest.ends_ps(rows), samples["at_ps"].to_numpy(np.int64))
    return samples[~(removing & (samples["thread"] == "main"))]


def _with_activity(samples: pd.DataFrame, forest: Forest, grouping: Grouping, spans: pd.DataFrame) -> pd.DataFrame:
    """Divide each sample's time by what the step did at that moment."""
    at = samples["at_ps"].to_numpy(np.int64)
    begin = (spans["start_ms"].to_numpy(np.float64) * PS_PER_MS).astype(np.int64)
    end = begin + (spans["step_ms"].to_numpy(np.float64) * PS_PER_MS).astype(np.int64)
    in_step = covered_at(begin, end, at)
    within = (at >= begin.min()) & (at <= end.max()) if len(begin) else np.zeros(len(at), dtype=bool)
    if samples.empty:
        return samples.assign(**dict.fromkeys(_TIMES[1:], 0.0))
    activity = classify(forest, grouping.group)
    waiting = in_step & _going_on(forest, activity == Activity.WAIT_INPUT, at)
    _, traced_from, traced_to = tracing_spans(forest)
    ops = _going_on(forest, (activity != Activity.NONE) & (activity != Activity.WAIT_INPUT), at)
    tracing, graphs = covered_at(traced_from, traced_to, at), _going_on(forest, forest.name_starts(f"{DISPATCH}__"), at)
    ran = _shares_of_ops(forest, samples, ops | tracing)
    working = in_step & ~waiting
    time = samples["self_ms"].to_numpy(np.float64)
    on_main = (samples["thread"] == "main").to_numpy()
    parts: dict[str, Bools | Floats] = {
        "in_steps_ms": in_step,
        "between_steps_ms": ~in_step & within,
        "outside_ms": ~in_step & ~within,
        "waiting_ms": waiting,
        "ops_ms": working * ran,
        "nothing_ms": working * (1 - ran),
        "graphs_ms": within & (graphs | tracing),
        "eager_ms": ~graphs & ~tracing,
        "other_ms": working * (1 - ran) * on_main,
    }
    return samples.assign(**{name: time * part for name, part in parts.items()})


def _shares_of_ops(forest: Forest, samples: pd.DataFrame, ops: Bools) -> Floats:
    """Return how much of each sample ops ran: where ops are not recorded, as much as in recorded ones of its stack.

    ``ops`` says it of samples where they are. A stack without such samples has the mean of all.
    """
    at = samples["at_ps"].to_numpy(np.int64)
    left = ~forest.once(recorded_ops).hold(at, at) & ~ops
    ran = pd.Series(ops, samples.index, dtype=float)
    of_stack = ran[~left].groupby(samples["stack"][~left]).mean()
    shares: Floats = ran.mask(left, samples["stack"].map(of_stack).fillna(ran[~left].mean())).fillna(0.0).to_numpy()
    return shares


def _going_on(forest: Forest, chosen: Bools, at: Int64) -> Bools:
    """Return for each time (ps) whether any of the chosen events goes on then."""
    going_on, rows = np.zeros(len(at), dtype=bool), np.flatnonzero(chosen)
    for first in range(0, len(rows), _BLOCK):
        block = rows[first : first + _BLOCK]
        going_on |= covered_at(forest.host.start_ps[block], forest.ends_ps(block), at)
    return going_on


def time_of_stacks(forest: Forest, stacks: PythonStacks) -> pd.DataFrame:
    """Return the time of each stack that was sampled within the recording: ``stack thread self_ms``."""
    samples = _samples(forest, stacks)
    return samples.groupby(["stack", "thread"], sort=False)["self_ms"].sum().reset_index()


@dataclass(frozen=True, eq=False)
class Frames:
    """The calls on stacks.

    Attributes
    ----------
    start
        The first frame of each stack, and the end of the last.
    name, place, users, library, installed
        Per frame, innermost first: the function, its line as people read it, whether it is the user's code, the
        package that it belongs to, empty for calls that only pass others on, and whether that package was installed:
        others are Python's own.
    """

    start: Int64
    name: Objects
    place: Sequence[str]
    users: Bools
    library: Objects
    installed: Bools

    def of(self, stack: int) -> range:
        """Return the frames of a stack, the outermost first."""
        return range(int(self.start[stack + 1]) - 1, int(self.start[stack]) - 1, -1)


def frames_of_stacks(stacks: PythonStacks, labels: Mapping[str, str]) -> Frames:
    """Return the calls on the stacks; ``labels`` are the names of notebook cells by the names of their files."""
    function = stacks.place_function[stacks.frame_place]
    names = np.array([*map(_without_comprehension, stacks.function_name), ""], dtype=object)[function]
    passes_on = np.array([str(name).endswith(_WRAPPERS) for name in names], dtype=bool)
    packages = np.array([*(_package(str(file)) for file in stacks.function_file), ""], dtype=object)[function]
    ours = packages == "tfprof_nb"
    return Frames(
        np.searchsorted(stacks.frame_stack, np.arange(_count(stacks) + 1)),
        names,
        _places(stacks.frame_place, stacks, labels),
        stacks.function_is_users[function],
        np.where(passes_on | ours, "", packages),
        np.array([_is_installed(str(file)) for file in stacks.function_file], dtype=bool)[function],
    )


def _count(stacks: PythonStacks) -> int:
    """Return how many stacks there are, also those without frames."""
    return int(max(stacks.frame_stack.max(initial=-1), stacks.stack.max(initial=-1))) + 1


def _is_installed(file: str) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(file.replace("\\", "/").split("/"))


def users_lines(stacks: PythonStacks) -> pd.DataFrame:
    """Return per stack ``place library call caller``: the innermost line of the user's, what it called, who called it.

    Places are -1 where there is none, texts are empty.
    """
    count = _count(stacks)
    function = np.append(stacks.place_function[stacks.frame_place], -1)  # the last stands for no frame
    place = np.append(_places_of_functions(stacks)[stacks.frame_place], -1)
    names = np.array([*map(_without_comprehension, stacks.function_name), ""], dtype=object)
    numbers = np.append(pd.factorize(names[:-1])[0], -1)
    none = len(function) - 1
    users = np.flatnonzero(stacks.function_is_users[function[:-1]]) if none else function[:0]
    leaf = _first(users, stacks.frame_stack, count, none)
    outside = users[
        (users > leaf[stacks.frame_stack[users]])
        & (numbers[function[users]] != numbers[function[leaf[stacks.frame_stack[users]]]])
    ]
    caller = _first(outside, stacks.frame_stack, count, none)
    start = np.searchsorted(stacks.frame_stack, np.arange(count))
    end = np.append(start[1:], none) if count else start
    called = np.where(leaf < none, leaf, end) - 1
    packages = np.array([*(_package(str(file)) for file in stacks.function_file), ""], dtype=object)
    wraps = np.array([str(name).endswith(_WRAPPERS) for name in names], dtype=bool) | (packages == "tfprof_nb")
    for _ in range(_WRAPPERS_DEEP):
        called = np.where((called > start) & wraps[function[called]], called - 1, called)
    called = np.where((called >= start) & (end > start), called, none)
    return pd.DataFrame(
        {
            "place": place[leaf],
            "library": packages[function[called]],
            "call": names[function[called]],
            "caller": place[caller],
        }
    )


def _first(frames: Int64, stack: Int64, count: int, none: int) -> Int64:
    """Return the first of the chosen frames in each stack, or `none`."""
    first = np.full(count, none, dtype=np.int64)
    np.minimum.at(first, stack[frames], frames)
    return first


def _without_comprehension(name: Any) -> str:
    """Return the function in which a comprehension stands.

    Examples
    --------
    >>> _without_comprehension("read.<locals>.<listcomp>.<genexpr>"), _without_comprehension("<listcomp>")
    ('read', '<module>')
    """
    return _INNER_OF_MODULE.sub("<module>", _INNER.sub("", str(name)))


def _places_of_functions(stacks: PythonStacks) -> Int64:
    """Return for each place the first one that is the same to users: a comprehension is no function to them."""
    function = stacks.place_function
    names = np.array([*map(_without_comprehension, stacks.function_name)], dtype=object)
    same = pd.DataFrame(
        {"name": names[function], "file": stacks.function_file[function], "line": stacks.place_line, "place": 0}
    )
    same["place"] = np.arange(len(same))
    first: Int64 = same.groupby(["name", "file", "line"])["place"].transform("first").to_numpy(np.int64)
    return first


def _package(file: str) -> str:
    """Return the name of the package that a file of a library belongs to."""
    parts = file.replace("\\", "/").split("/")
    if "tfprof_nb" in parts[:-1]:
        return "tfprof_nb"
    if "autograph" in parts[:-1]:  # calls of converted functions pass through it
        return ""
    for folder in ("site-packages", "dist-packages"):
        if folder in parts[:-1]:
            name = parts[parts.index(folder) + 1].removesuffix(".py")
            return _PACKAGES.get(name, name)
    standard = [k for k, part in enumerate(parts[:-1]) if _STANDARD_LIBRARY.fullmatch(part)]
    return parts[standard[-1] + 1 if standard else -1].removesuffix(".py")


def _totals(samples: pd.DataFrame, stacks: PythonStacks) -> pd.DataFrame:
    """Return the time in which each place of the user's code was on the stack: ``total_ms`` by place and thread."""
    users = stacks.function_is_users[stacks.place_function[stacks.frame_place]]
    place = _places_of_functions(stacks)[stacks.frame_place[users]]
    on_stack = pd.DataFrame({"stack": stacks.frame_stack[users], "place": place}).drop_duplicates()
    time = samples.groupby(["stack", "thread"])["self_ms"].sum().rename("total_ms").reset_index()
    return on_stack.merge(time, on="stack").groupby(["place", "thread"])[["total_ms"]].sum()


def _nested(samples: pd.DataFrame, stacks: PythonStacks, labels: Mapping[str, str]) -> pd.DataFrame:
    """Return the time of eager ops, and of Python, by each of the user's lines on the stack and what it called."""
    users = np.flatnonzero(stacks.function_is_users[stacks.place_function[stacks.frame_place]])
    stack, place = stacks.frame_stack[users], _places_of_functions(stacks)[stacks.frame_place[users]]
    inner = np.append(-1, np.where(stack[1:] == stack[:-1], stacks.place_function[place[:-1]], -1))[: len(users)]
    on_stack = pd.DataFrame({"stack": stack, "place": place, "inner": inner}).drop_duplicates(["stack", "place"])
    times = ["eager_ms", "python_ms"]
    time = samples[(samples["thread"] == "main") & (samples[times].sum(axis=1) > 0)].groupby("stack")[times].sum()
    rows = on_stack.merge(time.reset_index(), on="stack").groupby(["place", "inner"])[times].sum().reset_index()
    named, inner = _named(rows, stacks, labels), rows["inner"].to_numpy(np.int64)
    names = np.array([*map(_without_comprehension, stacks.function_name), ""], dtype=object)
    return named.assign(called=names[inner], called_file=_files(stacks, labels)[inner])


def _named(rows: pd.DataFrame, stacks: PythonStacks, labels: Mapping[str, str]) -> pd.DataFrame:
    """Add what the place of each row is called."""
    place = rows["place"].to_numpy(np.int64)
    function = np.append(stacks.place_function, -1)[place]
    names = np.array([*map(_without_comprehension, stacks.function_name), _NO_USER_CODE], dtype=object)
    lines = np.append(stacks.place_line, 0)[place]
    return rows.assign(function=names[function], file=_files(stacks, labels)[function], line=lines)


def _places(place: Int64, stacks: PythonStacks, labels: Mapping[str, str]) -> list[str]:
    """Write places as file and line; -1 is none."""
    function, line = np.append(stacks.place_function, -1)[place], np.append(stacks.place_line, 0)[place]
    written = zip(_files(stacks, labels)[function], line, place, strict=True)
    return [place_of(file, number) if one >= 0 else "" for file, number, one in written]


def _files(stacks: PythonStacks, labels: Mapping[str, str]) -> Objects:
    """Return the name of each function's file, and as the last that of none."""
    return np.array([*(labels.get(str(file), str(file)) for file in stacks.function_file), ""], dtype=object)


def callback_calls(forest: Forest) -> pd.DataFrame:
    """Return the calls of callbacks' methods on one host: ``name start_ps duration_ps``."""
    host, rows = forest.host, np.flatnonzero(forest.name_starts(CALLBACK))
    times = {"start_ps": host.start_ps[rows], "duration_ps": host.duration_ps[rows]}
    return pd.DataFrame({"name": host.names[host.metadata[rows]].astype(str), **times})


def _callbacks(forests: Sequence[Forest], steps: Steps) -> pd.DataFrame:
    """Add up the events of callbacks' methods, and those that began in measured steps."""
    found = []
    by_host = dict(list(steps.measured.groupby("host", sort=False)))
    for forest in forests:
        calls = forest.once(callback_calls)
        time_ms: Floats = calls["duration_ps"].to_numpy(np.int64) / PS_PER_MS
        spans = by_host.get(forest.host.name, steps.measured.iloc[:0])
        begin = (spans["start_ms"].to_numpy(np.float64) * PS_PER_MS).astype(np.int64)
        end = begin + (spans["step_ms"].to_numpy(np.float64) * PS_PER_MS).astype(np.int64)
        in_measured = covered_at(begin, end, calls["start_ps"].to_numpy(np.int64))
        found.append(pd.DataFrame({"name": calls["name"], "total_ms": time_ms, "measured_ms": time_ms * in_measured}))
    events = pd.concat(found, ignore_index=True)
    table = (
        events.groupby("name")
        .agg(calls=("total_ms", "size"), total_ms=("total_ms", "sum"), measured_ms=("measured_ms", "sum"))
        .reset_index()
    )
    table["callback"] = [name.removeprefix(CALLBACK).rpartition(".")[0] for name in table["name"]]
    table["method"] = [name.rpartition(".")[2] for name in table["name"]]
    table["per_step_ms"] = table["total_ms"] / max(len(steps.table), 1)
    return table.sort_values("total_ms", ascending=False, ignore_index=True)[CALLBACK_COLUMNS]
