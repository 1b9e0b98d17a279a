"""Samples of Python's stacks as events of the trace: neighbours that show the same call become one slice."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb._units import PS_PER_NS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.python import LONGEST_GAP, users_lines
from tfprof_nb.analysis.source.code import place_of
from tfprof_nb.decode.sections.python import PythonStacks
from tfprof_nb.decode.table import COLUMNS, build_host

_PLANE, _MAX_DEPTH = "/host:CPU", 32
_LINES = {True: "Python, sampled", False: "Python of tf.data, sampled"}
SAMPLED = frozenset(_LINES.values())


def sampled_python(
    forests: Sequence[Forest], stacks: Sequence[PythonStacks], labels: Mapping[str, str]
) -> list[Forest]:
    """Return a host with a line of slices per sampled thread for each host that has samples.

    A slice is a line of the user's code, or what such a line called in a library. It lasts from the first of a row of
    samples that show it to the next sample, so its ends are uncertain by the interval of sampling.
    """
    found = (_sampled(*one, labels) for one in zip(forests, stacks, strict=True))
    return [forest for forest in found if forest is not None]


def _sampled(forest: Forest, stacks: PythonStacks, labels: Mapping[str, str]) -> Forest | None:
    host = forest.host
    if not len(stacks.time_ns) or not host.began_ns:
        return None
    calls, names = _calls(stacks, labels)
    until_ns = _until(stacks)
    frames = [
        _slices(
            stacks.time_ns[mine] - host.began_ns, until_ns[mine] - host.began_ns, calls[stacks.stack[mine]], names
        ).assign(line=_LINES[bool(thread == 0)], line_id=int(thread))
        for thread in np.unique(stacks.thread)
        for mine in [np.flatnonzero(stacks.thread == thread)]
    ]
    events = pd.concat(frames, ignore_index=True).assign(plane=_PLANE, args=None)
    events = events.assign(display_name=events["name"])[events["start_ps"] >= 0]
    return (
        Forest(build_host(host.name, events[COLUMNS], {_PLANE: {}}, origin_ns=host.origin_ns)) if len(events) else None
    )


def _calls(stacks: PythonStacks, labels: Mapping[str, str]) -> tuple[Int64, Objects]:
    """Return the calls that each stack shows, outermost first, as numbers of names; -1 where there is none.

    These are the lines of the user's code, and what the innermost of them called.
    """
    users = stacks.function_is_users[stacks.place_function[stacks.frame_place]]
    files = [labels.get(str(file), str(file)) for file in stacks.function_file]
    lines = zip(stacks.place_function, stacks.place_line, strict=True)
    places = [
        _written(str(stacks.function_name[function]), place_of(files[function], line)) for function, line in lines
    ]
    called = users_lines(stacks)
    libraries = [f"{library}: {call}" if call else "" for library, call in called[["library", "call"]].to_numpy()]
    names = [*places, *dict.fromkeys(libraries)]
    numbers = {name: len(places) + k for k, name in enumerate(dict.fromkeys(libraries))}
    count = len(called)
    table = np.full((count, _MAX_DEPTH), -1, dtype=np.int64)
    of_users = np.flatnonzero(users)[::-1]  # innermost first becomes outermost first
    stack = stacks.frame_stack[of_users]
    order = np.argsort(stack, kind="stable")
    of_users, stack = of_users[order], stack[order]
    depth = np.arange(len(stack)) - np.searchsorted(stack, stack)
    shown = depth < _MAX_DEPTH - 1
    table[stack[shown], depth[shown]] = stacks.frame_place[of_users[shown]]
    ends = np.minimum(np.bincount(stack, minlength=count), _MAX_DEPTH - 1)
    table[np.arange(count), ends] = [numbers[library] if library else -1 for library in libraries]
    return table, np.array(names, dtype=object)


def _written(function: str, place: str) -> str:
    return place if function == "<module>" else f"{function} ({place})"


def _until(stacks: PythonStacks) -> Int64:
    """Return until when each sample stands: the next one of any thread, as all are sampled at once."""
    times, at = np.unique(stacks.time_ns, return_inverse=True)
    until = np.append(times[1:], times[-1] + stacks.interval_ns)
    found: Int64 = np.minimum(until, times + LONGEST_GAP * stacks.interval_ns)[at]
    return found


def _slices(time_ns: Int64, until: Int64, calls: Int64, names: Objects) -> pd.DataFrame:
    """Join neighbouring samples: ``name start_ps duration_ps``."""
    apart = np.append(True, time_ns[1:] > until[:-1])
    begins = np.ones(calls.shape, dtype=bool)
    begins[1:] = calls[1:] != calls[:-1]
    begins = np.logical_or.accumulate(begins | apart[:, None], axis=1)  # a call is another one in another call
    found = []
    for depth in range(calls.shape[1]):
        first = np.flatnonzero(begins[:, depth])
        last = np.append(first[1:], len(time_ns)) - 1
        there = calls[first, depth] >= 0
        first, last = first[there], last[there]
        found.append(
            pd.DataFrame(
                {
                    "name": names[calls[first, depth]],
                    "start_ps": time_ns[first] * PS_PER_NS,
                    "duration_ps": (until[last] - time_ns[first]) * PS_PER_NS,
                }
            )
        )
    return pd.concat(found, ignore_index=True)
