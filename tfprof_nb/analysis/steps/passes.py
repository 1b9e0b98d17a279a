"""The passes of loops that run op by op: by the batches that they take from a dataset, or by marks of their lines."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.recorded_ops import recorded_ops
from tfprof_nb.analysis.source.cell_lines import line_events
from tfprof_nb.formats.marks import CELL_LINE, END_OF_DATA, FETCH, GRADIENTS, ITERATION, LEADS, LOOP_LINE
from tfprof_nb.formats.xspace import DISPATCH

FETCHES = (FETCH, "IteratorGetNext", f"{DISPATCH}IteratorGetNext")
# Dispatches that handle iterators and datasets do none of a step's work.
_OF_DATASETS = ("Iterator", "Dataset", "Optional")
_UPDATES = ("Assign", "ResourceApply", "ResourceScatter")
_MIN_PASSES, _MANY_PASSES = 3, 8
_MOST, _HALF = 0.8, 0.5  # of the passes, or of the ops


def fetches_of(forest: Forest) -> Int64:
    """Return the calls that take a batch from an iterator outside of any function, in order of time."""
    found = forest.outermost(np.flatnonzero(forest.name_starts(*FETCHES) & _on_programs_threads(forest)))
    return found[np.argsort(forest.host.start_ps[found], kind="stable")]


def eager_passes(forest: Forest) -> pd.DataFrame:
    """Return the passes of the loop that runs most of the ops one by one: ``group start_ps end_ps event``.

    Of nested loops it is the one that takes batches, or updates variables, in each pass; else the outermost that has
    many passes.
    """
    ops = _ops(forest)
    of_lines = (*_line_loops(forest, ops), *_function_loops(forest, ops))
    loops = [(True, _batches(forest, ops)), *((False, loop) for loop in of_lines)]
    best, rank = _none(), None
    for takes_batches, loop in loops:
        if len(loop) < _MIN_PASSES or _covered(forest, ops, loop) < _MOST:
            continue
        recorded = ~_left_out(forest, *(loop[name].to_numpy(np.int64) for name in ("start_ps", "end_ps")))
        updates = bool(_holding(forest, loop, _dispatches(forest, *_UPDATES))[recorded].sum() >= _MOST * recorded.sum())
        own = takes_batches, updates, len(loop) >= _MANY_PASSES, len(loop) if updates else -len(loop)
        if rank is None or own > rank:
            best, rank = loop, own
    return best.assign(group=np.arange(len(best)))


def _none() -> pd.DataFrame:
    return pd.DataFrame({"start_ps": [], "end_ps": [], "event": []}, dtype=np.int64)


def _ops(forest: Forest) -> Int64:
    """Return the outermost dispatches of ops, but those that handle iterators, in order of time."""
    names = forest.names_starting(DISPATCH) & ~forest.names_with(*_OF_DATASETS)
    work = forest.with_names(names) & _on_programs_threads(forest)
    found = forest.outermost(np.flatnonzero(work))
    return found[np.argsort(forest.host.start_ps[found], kind="stable")]


def _dispatches(forest: Forest, *types: str) -> Bools:
    return forest.name_starts(*(f"{DISPATCH}{one}" for one in types))


def _on_programs_threads(forest: Forest) -> Bools:
    """Return per event whether it is on a thread of the program: tf.data runs Python on threads of its own."""
    marks = np.flatnonzero(forest.name_starts(CELL_LINE, LOOP_LINE, GRADIENTS, FETCH))
    threads = np.zeros(len(forest.host.lines), dtype=bool)
    threads[forest.host.line[marks]] = True
    if not len(marks):
        threads = np.array([line.name == "python" for line in forest.host.lines], dtype=bool)
    return threads[forest.host.line] & forest.on_host


def _batches(forest: Forest, ops: Int64) -> pd.DataFrame:
    """Return the passes that begin with a batch: fetches with no op in between are of one pass, as of two datasets."""
    host = forest.host
    fetches = fetches_of(forest)
    if len(fetches) < _MIN_PASSES:
        return _none()
    start = host.start_ps[fetches]
    made = np.sort(host.start_ps[np.flatnonzero(_dispatches(forest, "MakeIterator", "OneShotIterator"))])
    leads = forest.ints_at(LEADS, fetches)  # -1: none of our marks
    left_out = _left_out(forest, start, np.append(start[1:], np.iinfo(np.int64).max))
    worked = np.where(left_out, np.append(leads[1:] > 0, False), _count_between(np.sort(host.start_ps[ops]), start))
    anew = _count_between(made, start) > 0
    begins = np.append(True, (worked[:-1] > 0) | anew[:-1])
    # A fetch that finds the data at an end does no work: it begins no pass, nor does what follows it.
    ended = (worked == 0) & anew | (forest.ints_at(END_OF_DATA, fetches) > 0)
    if worked.any() and (leads < 0).any():
        ended |= _at_ends(forest, ops, start, begins, np.append(0, anew[:-1].cumsum()))
    begins |= not worked.any()  # the loop only takes its data
    kept = np.flatnonzero(begins & ~ended)
    stops = np.flatnonzero(begins | ended)
    after = np.searchsorted(stops, kept, side="right")
    ends = np.append(start[stops], forest.ends_ps(fetches[-1:]))[after]
    passes = pd.DataFrame({"start_ps": start[kept], "end_ps": ends, "event": fetches[kept]})
    return _ended(forest, ops, passes) if worked.any() and after[-1:] == len(stops) else passes


def _at_ends(forest: Forest, ops: Int64, start: Int64, begins: Bools, iterator: Int64) -> Bools:
    """Return per fetch whether it finds the data at an end, and what follows is not the work of a pass.

    These are the last fetches of an iterator, if they are followed by less than half of the kinds of ops that most of
    its passes run. ``start``, ``begins`` and ``iterator`` have one entry per fetch.
    """
    of_fetch: Int64 = np.cumsum(begins) - 1
    iterators = iterator[begins]
    at = np.searchsorted(start, forest.host.start_ps[ops], side="right") - 1
    ran = pd.DataFrame({"pass": of_fetch[at[at >= 0]], "kind": forest.host.metadata[ops[at >= 0]]}).drop_duplicates()
    ran["iterator"] = iterators[ran["pass"]]
    passes_with = ran.groupby(["iterator", "kind"])["pass"].transform("size").to_numpy()
    usual = ran[passes_with >= _HALF * np.bincount(iterators)[ran["iterator"]]]
    kinds = usual.groupby("iterator")["kind"].nunique().reindex(iterators, fill_value=0).to_numpy()
    lacks = np.bincount(usual["pass"], minlength=len(iterators)) < _HALF * kinds
    last = pd.Series(lacks[::-1]).groupby(iterators[::-1]).cummin().to_numpy()[::-1]
    found: Bools = last[of_fetch]
    return found


def _left_out(forest: Forest, start_ps: Int64, end_ps: Int64) -> Bools:
    """Return per stretch of time whether ops were not recorded in all of it: any may have run."""
    left_out: Bools = ~forest.once(recorded_ops).hold(start_ps, end_ps)
    return left_out


def _count_between(times: Int64, start: Int64) -> Int64:
    """Return how many of the ascending times lie from each start to the next one; behind the last, all."""
    edges = np.searchsorted(times, np.append(start, np.iinfo(np.int64).max))
    return np.diff(edges)


def _ended(forest: Forest, ops: Int64, passes: pd.DataFrame) -> pd.DataFrame:
    """Let the last pass end with its last op, and leave it out if it has none: nothing tells where it ends else.

    It takes no longer than the longest of the others.
    """
    begin = int(passes["start_ps"].iloc[-1])
    longest = int((passes["end_ps"] - passes["start_ps"]).iloc[:-1].max())
    start = forest.host.start_ps[ops]
    own = ops[(start >= begin) & (start < begin + longest)]
    ends = passes["end_ps"].to_numpy(np.int64).copy()
    ends[-1] = max(int(forest.ends_ps(own).max(initial=0)), begin)
    return passes.assign(end_ps=ends)[ends > passes["start_ps"]]


def _line_loops(forest: Forest, ops: Int64) -> Iterator[pd.DataFrame]:
    """Yield the passes of each loop of the cell: from one mark of its head to the next one, if an op ran between."""
    host = forest.host
    marks, number = line_events(forest)
    order = np.argsort(host.start_ps[marks], kind="stable")
    marks, number = marks[order], number[order]
    back = np.diff(number, prepend=number[:1] - 1) <= 0
    op_starts = np.sort(host.start_ps[ops])
    for line in np.unique(number[back]):
        heads = np.flatnonzero(number == line)
        # A loop comes back to its head many times each time that it is entered, a `with` once.
        if back[heads].sum() < _MIN_PASSES or back[heads].sum() < 2 * (~back[heads]).sum():
            continue
        start = host.start_ps[marks[heads]]
        worked = np.append(_worked_between(forest, op_starts, start) & back[heads[1:]], False)
        yield pd.DataFrame(
            {"start_ps": start[worked], "end_ps": np.append(start[1:], 0)[worked], "event": marks[heads[worked]]}
        )


def _worked_between(forest: Forest, op_starts: Int64, start: Int64) -> Bools:
    """Return per start but the last whether an op ran until the next one, or may have."""
    worked: Bools = (_count_between(op_starts, start)[:-1] > 0) | _left_out(forest, start[:-1], start[1:])
    return worked


def _function_loops(forest: Forest, ops: Int64) -> Iterator[pd.DataFrame]:
    """Yield the passes of each loop of the user's functions: from one mark to the next one, if an op ran between.

    So are those from gradients to gradients, where no loop is known that holds as many.
    """
    host, op_starts = forest.host, np.sort(forest.host.start_ps[ops])
    marks = np.flatnonzero(forest.name_starts(LOOP_LINE, GRADIENTS))
    for name in np.unique(host.metadata[marks]):
        own = marks[host.metadata[marks] == name]
        own = own[np.argsort(host.start_ps[own], kind="stable")]
        start, number = host.start_ps[own], forest.ints_at(ITERATION, own)
        whole = np.flatnonzero(_worked_between(forest, op_starts, start) & (np.diff(number) == 1))
        if len(whole) >= _MIN_PASSES:
            yield pd.DataFrame({"start_ps": start[whole], "end_ps": start[whole + 1], "event": own[whole]})


def _covered(forest: Forest, ops: Int64, loop: pd.DataFrame) -> float:
    """Return which part of the ops lies in the passes, or of their time if that is more: a start may be slow."""
    inside, time = _pass_of(forest, ops, loop) >= 0, forest.host.duration_ps[ops]
    return float(max(inside.mean(), time[inside].sum() / max(time.sum(), 1))) if len(ops) else 1.0


def _holding(forest: Forest, loop: pd.DataFrame, chosen: Bools) -> Bools:
    """Return per pass whether a chosen event begins in it."""
    held = np.zeros(len(loop) + 1, dtype=bool)
    held[_pass_of(forest, np.flatnonzero(chosen), loop)] = True
    return held[:-1]


def _pass_of(forest: Forest, events: Int64, loop: pd.DataFrame) -> Int64:
    """Return the pass in which each event begins, -1 for none."""
    start = forest.host.start_ps[events]
    at = np.searchsorted(loop["start_ps"], start, side="right") - 1
    return np.where((at >= 0) & (start < loop["end_ps"].to_numpy()[at]), at, -1)
