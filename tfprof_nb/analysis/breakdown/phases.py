"""What the cell does one after the other: its trainings, validations and predictions, by place, and their steps."""

from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.breakdown.code_of_samples import SampledCode
from tfprof_nb.analysis.breakdown.main_thread import MainThread
from tfprof_nb.analysis.source.code import Code, line_at, place_of
from tfprof_nb.analysis.steps.marks import UNNAMED
from tfprof_nb.formats.marks import CALLBACK, KERAS_CALL

TRAIN, LOOP = "train", "loop"
_NAMES = {"fit": "train", "evaluate": "evaluate", "predict": "predict"}
VALIDATION = "validation"
OF_KERAS = (VALIDATION, "evaluate", "predict")  # beside a training
_MOST = 0.8  # of the samples that the most common line has


def step_spans(steps: pd.DataFrame) -> tuple[Int64, Int64]:
    """Return when the steps of one host begin and end (ps); one that begins before another ends is cut short."""
    start = np.rint(steps["start_ms"].to_numpy(np.float64) * PS_PER_MS).astype(np.int64)
    end = start + np.rint(steps["step_ms"].to_numpy(np.float64) * PS_PER_MS).astype(np.int64)
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    end[:-1] = np.minimum(end[:-1], start[1:])
    return start, end


def span_at(start: Int64, end: Int64, at: Int64) -> Int64:
    """Return the span in which each time lies, -1 for none; spans are in order and do not overlap."""
    if not len(start):
        return np.full(len(at), -1, dtype=np.int64)
    found = np.searchsorted(start, at, side="right") - 1
    return np.where((found >= 0) & (at < end[found]), found, -1)


def keras_phases(thread: MainThread) -> tuple[Int64, Int64, Objects]:
    """Return per event the Keras call whose phase it is in (-1 for none) and the callback (-1), and per event its name.

    What a callback calls is the callback's.
    """
    calls = thread.starts_with(KERAS_CALL)
    callbacks = thread.starts_with(CALLBACK)
    callback = thread.outermost_of(callbacks)
    call = thread.innermost_of(calls)
    within = (callback >= 0) & (call >= 0)
    # A call inside the callback lies deeper than the callback.
    deeper = within & (thread.depth[call] > thread.depth[callback])
    call[deeper] = call[callback[deeper]]
    # A callback around the whole call, of a fit that runs inside a callback, stays the callback.
    return call, callback, _call_names(thread, np.flatnonzero(calls))


def _call_names(thread: MainThread, calls: Int64) -> Objects:
    """Return per event what the Keras call that it is stands for; empty for others."""
    names = np.full(len(thread.events), "", dtype=object)
    if not len(calls):
        return names
    is_call = np.zeros(len(thread.events), dtype=bool)
    is_call[calls] = True
    around = thread.innermost_of(is_call)
    for event in calls.tolist():
        kind = str(thread.names[thread.name[event]]).removeprefix(KERAS_CALL)
        above = int(thread.parent[event])
        outer = int(around[above]) if above >= 0 else -1
        in_fit = outer >= 0 and str(thread.names[thread.name[outer]]) == f"{KERAS_CALL}fit"
        names[event] = VALIDATION if kind == "evaluate" and in_fit else _NAMES.get(kind, kind)
    return names


def call_places(thread: MainThread, calls: Int64, code: SampledCode) -> Objects:
    """Return the line that made each Keras call, by most samples within; else the cell's line that ran."""
    places = np.full(len(calls), "", dtype=object)
    lines = thread.innermost_of(thread.starts_with("cell line "))
    for number, call in enumerate(calls.tolist()):
        first, last = np.searchsorted(code.at_ps, (thread.start_ps[call], thread.end_of_ps[call]))
        seen = [place for place in code.call_place[first:last] if place]
        if seen:
            places[number] = max(set(seen), key=seen.count)
        elif lines[call] >= 0:
            places[number] = str(thread.names[thread.name[lines[call]]])
    return places


def loop_phases(steps: pd.DataFrame, start: Int64, end: Int64, calls: Objects) -> pd.DataFrame:
    """Return runs of steps that are phases by themselves: ``name start_ps end_ps``.

    These are the steps outside of Keras' calls, and in a training those of its validation, where that left no event.

    Parameters
    ----------
    steps
        One host's steps by start, with their ``phase``.
    start, end, calls
        Per step: its times, and the name of the call's phase that it is in, empty for none.
    """
    own = steps["phase"].to_numpy(dtype=object).astype(str)
    validates = (calls == TRAIN) & (own == "test")
    rows = np.flatnonzero((calls == "") | validates)
    if not len(rows):
        return pd.DataFrame({"name": np.zeros(0, dtype=object), "start_ps": rows, "end_ps": rows})
    names = np.where(validates, VALIDATION, np.where(own == UNNAMED, LOOP, own))[rows]
    begins = np.flatnonzero(np.append(True, (names[1:] != names[:-1]) | (np.diff(rows) > 1)))
    ends = np.append(begins[1:], len(rows)) - 1
    return pd.DataFrame({"name": names[begins], "start_ps": start[rows[begins]], "end_ps": end[rows[ends]]})


def loop_places(loops: pd.DataFrame, code: SampledCode, text: Code) -> Objects:
    """Return the line at which the loop of each run of steps begins, or of others of its name."""
    places, names = np.full(len(loops), "", dtype=object), loops["name"].to_numpy(dtype=object)
    run = span_at(loops["start_ps"].to_numpy(np.int64), loops["end_ps"].to_numpy(np.int64), code.at_ps)
    if not (run >= 0).any():
        return places
    seen = pd.DataFrame({"run": run, "stack": code.stack})[run >= 0]
    heads = {place: _head(str(place), text) for place in code.lines["place"].unique()}
    lines = code.lines.assign(place=code.lines["place"].map(heads))
    for name, place in _common_lines(seen.assign(run=names[seen["run"]]), lines):
        places[names == name] = place
    for number, place in _common_lines(seen, lines):
        places[number] = place
    return places


def _common_lines(seen: pd.DataFrame, lines: pd.DataFrame) -> list[tuple[Any, str]]:
    """Return for each run the innermost line that most of its samples have in common.

    ``seen`` has the ``run`` and ``stack`` of each sample, ``lines`` the ``stack place`` of the lines on it.
    """
    lines = lines.assign(depth=lines.groupby("stack").cumcount()).drop_duplicates(["stack", "place"])
    met = seen.value_counts(sort=False).rename("samples").reset_index().merge(lines, on="stack")
    found = met.groupby(["run", "place"], as_index=False).agg(samples=("samples", "sum"), depth=("depth", "mean"))
    common = found[found["samples"] >= _MOST * found.groupby("run")["samples"].transform("max")]
    innermost = common.sort_values("depth", kind="stable").drop_duplicates("run")
    return [*zip(innermost["run"], innermost["place"], strict=True)]


def _head(place: str, text: Code) -> str:
    """Return the line of the loop around a line; the line itself if there is none."""
    file, line = line_at(place)
    head, _ = text.loop_line(file, line)
    return place_of(file, head) if head else place
