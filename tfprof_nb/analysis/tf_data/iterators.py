"""Calls of tf.data iterators, linked across threads: which call waited for which.

An iterator calls the one before it on its own thread, or takes an element that another thread made. Such elements
are linked by the `Produce` and `Consume` events around them (`ConnectTfDataEvents` in XLA's `group_events.cc`).
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.intervals import newly_covered

PREFIX = "Iterator::"
PRODUCED, CONSUMED = "Produce", "Consume"  # how the names end of events that make or take an element
NO_CALL = -1

# Stages that the runtime puts around every pipeline; optimisers mark what they add by its graph name.
RUNTIME_STAGES = frozenset({"Root", "Model", "MaxIntraOpParallelism", "PrivateThreadPool", "Options"})
_ADDED_BY_OPTIMISER = "inject/"
_BRANCH = re.compile(r"\[\d+\]")
_VERSION = re.compile(r"V\d+$")
# The first iterator of a pipeline that runs on a device; its parent is the root there.
_DEVICE_SOURCE = "Iterator::Prefetch::Generator"


def stage_of(event_name: str) -> str:
    """Return the stage that an iterator's event belongs to: its name without the numbers of parallel branches.

    Examples
    --------
    >>> stage_of("Iterator::Root::FlatMap[12]::TFRecord")
    'Iterator::Root::FlatMap::TFRecord'
    """
    return _BRANCH.sub("", event_name)


def iterator_type(stage: str) -> str:
    """Return the kind of iterator, whatever its version.

    Examples
    --------
    >>> iterator_type("Iterator::Root::Prefetch::ParallelMapV2")
    'ParallelMap'
    """
    return _VERSION.sub("", stage.rpartition("::")[2])


def iterator_calls(forest: Forest) -> pd.DataFrame:
    """Return every call of a tf.data iterator on one host.

    Returns
    -------
    DataFrame
        One row per call: ``id`` and ``parent_id`` (of the iterator, modulo 2**64), ``iterator`` (number of the
        iterator), ``stage`` (see `stage_of`), ``dataset`` (its name in the graph, as ``MapDataset:2``; empty in
        older files), ``injected`` (put there by the runtime), ``device_source``, ``start_ps``, ``duration_ps``, and

        - ``parent``: position of the call that waited for this one, -1 for none; ``root``: of the outermost one,
          -1 where the capture does not show it;
        - ``self_ps``: time in which the call ran and no call that it waited for did (their union is taken off);
        - ``blocking``: whether the outermost call was held up by this one at some moment.
    """
    calls = _calls(forest)
    calls["parent"] = _parents(forest, calls)
    calls["self_ps"] = calls["duration_ps"] - _covered_by_children(calls)
    calls["root"], calls["blocking"] = _from_the_root(calls)
    return calls


def _calls(forest: Forest) -> pd.DataFrame:
    host = forest.host
    ids = host.ints("id").rows
    rows = ids[forest.on_host[ids] & forest.names_starting(PREFIX)[host.metadata[ids]]]
    names = pd.Series(host.names, dtype=object).astype(str)
    stage, type_name = names.map(stage_of), names.str.rpartition("::")[2] if len(names) else names
    frame = pd.DataFrame(
        {
            "stage": stage,
            "depth": names.str.count("::"),
            "device_source": names == _DEVICE_SOURCE,
            "injected": type_name.isin(RUNTIME_STAGES),
        }
    ).iloc[host.metadata[rows]]
    frame = frame.assign(
        row=rows,
        id=host.ints("id").at(rows),
        parent_id=host.ints("parent_id").at(rows),
        start_ps=host.start_ps[rows],
        duration_ps=host.duration_ps[rows],
    ).reset_index(drop=True)
    labels, codes = _labels(forest, rows)
    frame["injected"] |= np.array([label.startswith(_ADDED_BY_OPTIMISER) for label in labels], dtype=bool)[codes]
    # A new iterator may get the id of one that is gone: so the dataset's label counts too, where there is one.
    frame["iterator"] = frame.assign(label=codes).groupby(["id", "label"]).ngroup()
    frame["dataset"] = np.array(labels, dtype=object)[codes]
    return frame


def _labels(forest: Forest, rows: Int64) -> tuple[list[str], Int64]:
    """The names of the datasets in their graph (older files have none), and which of them each row has."""
    texts = forest.host.texts("name")
    labels = [str(text) for text in texts.categories] if texts.categories is not None else []
    return [*labels, ""], texts.at(rows, missing=len(labels)).astype(np.int64)


def _parents(forest: Forest, calls: pd.DataFrame) -> Int64:
    """The call that waited for each: the one around it on its thread, or the one that consumed its element."""
    rows, depth = calls["row"].to_numpy(np.int64), calls["depth"].to_numpy()
    producers, elements = element_events(forest, PRODUCED)
    around = forest.nearest_ancestor(rows, np.concatenate([rows, producers]))
    nested = np.flatnonzero((around >= 0) & (around < len(rows)))
    nested = nested[depth[around[nested]] <= depth[nested]]
    parent = np.full(len(rows), NO_CALL, dtype=np.int64)
    parent[nested] = around[nested]
    made = np.flatnonzero(around >= len(rows))
    produced = pd.DataFrame({"call": made, "id": calls["parent_id"].to_numpy()[made]})
    produced["element"] = elements[around[made] - len(rows)]
    links = _links(calls, produced, _consumed(forest, calls))
    # Who waits stands nearer to the root. So no chance match of ids can close a circle.
    links = links[depth[links["consumer"]] < depth[links["call"]]]
    parent[links["call"]] = links["consumer"]
    return parent


def _links(calls: pd.DataFrame, produced: pd.DataFrame, consumed: pd.DataFrame) -> pd.DataFrame:
    """Pairs of a call that made something (``call``) and the one that waited for it (``consumer``)."""
    linked = produced.merge(consumed, on=["id", "element"]).drop_duplicates("call")
    left = produced[~produced["call"].isin(linked["call"])]
    return pd.concat([linked, _never_consumed(calls, left, consumed)])[["call", "consumer"]]


def element_events(forest: Forest, suffix: str) -> tuple[Int64, Int64]:
    """Return the rows of the events that make or take an element, and the elements' ids."""
    named = np.array([str(name).endswith(suffix) for name in forest.host.names], dtype=bool)
    stat = forest.host.ints("element_id")
    mine = named[forest.host.metadata[stat.rows]]
    return stat.rows[mine], stat.values[mine].astype(np.int64)


def _consumed(forest: Forest, calls: pd.DataFrame) -> pd.DataFrame:
    """Which call (``consumer``) of which iterator (``id``) took which ``element``."""
    rows, elements = element_events(forest, CONSUMED)
    consumer = forest.nearest_ancestor(rows, calls["row"].to_numpy(np.int64))
    consumer, elements = consumer[consumer >= 0], elements[consumer >= 0]
    return pd.DataFrame({"id": calls["id"].to_numpy()[consumer], "element": elements, "consumer": consumer})


def _never_consumed(calls: pd.DataFrame, left: pd.DataFrame, consumed: pd.DataFrame) -> pd.DataFrame:
    """Link the work of which no element came, as at the end of data, to the call that waited for it in vain."""
    end = calls["start_ps"] + calls["duration_ps"]
    waiting = calls.assign(end=end)[~calls.index.isin(consumed["consumer"])][["id", "start_ps", "end"]]
    waiting = waiting.rename_axis("consumer").reset_index().sort_values("end")
    made = left[["call", "id"]].assign(end=end.to_numpy()[left["call"]]).sort_values("end")
    found = pd.merge_asof(made, waiting, on="end", by="id", direction="forward").dropna()
    found = found[found["start_ps"] < found["end"]]
    return found.astype({"consumer": np.int64})


def _covered_by_children(calls: pd.DataFrame) -> Int64:
    """Picoseconds of each call in which at least one of its children ran."""
    child, start, end = _inside_parent(calls)
    parent = calls["parent"].to_numpy()[child]
    spans = pd.DataFrame({"parent": parent, "start": start, "end": end}).sort_values(["parent", "start"])
    by_parent = spans["parent"]
    reach = spans.groupby(by_parent)["end"].cummax().groupby(by_parent).shift(fill_value=0)
    new = (spans["end"] - np.maximum(spans["start"], reach)).clip(lower=0)
    covered = np.zeros(len(calls), dtype=np.int64)
    np.add.at(covered, by_parent.to_numpy(), new.to_numpy())
    return covered


def _inside_parent(calls: pd.DataFrame) -> tuple[Int64, Int64, Int64]:
    """Calls that overlap with the one waiting for them, and from when to when."""
    parent = calls["parent"].to_numpy()
    start = calls["start_ps"].to_numpy()
    end = start + calls["duration_ps"].to_numpy()
    child = np.flatnonzero(parent >= 0)
    first = np.maximum(start[child], start[parent[child]])
    last = np.minimum(end[child], end[parent[child]])
    overlap = last > first
    return child[overlap], first[overlap], last[overlap]


def _from_the_root(calls: pd.DataFrame) -> tuple[Int64, Bools]:
    """The outermost call of each, and whether each held it up; worked out from the root inwards."""
    parent = calls["parent"].to_numpy()
    overlaps = np.zeros(len(calls), dtype=bool)
    overlaps[_inside_parent(calls)[0]] = True
    blocking = calls["depth"].to_numpy() == 1
    root = np.where(blocking, np.arange(len(calls)), NO_CALL)
    waiting = np.flatnonzero(parent >= 0)
    while (ready := root[parent[waiting]] >= 0).any():
        rows, waiting = waiting[ready], waiting[~ready]
        root[rows] = root[parent[rows]]
        blocking[rows] = blocking[parent[rows]] & overlaps[rows]
    return root, blocking


def critical_time(calls: pd.DataFrame) -> pd.DataFrame:
    """Share out each outermost call's time: every moment goes to the innermost stage that held it up then.

    Parameters
    ----------
    calls
        As `iterator_calls` returns it.

    Returns
    -------
    DataFrame
        ``root stage critical_ps``; the rows of one root add up to its duration.
    """
    start = calls["start_ps"].to_numpy()
    end = start + calls["duration_ps"].to_numpy()
    stages, rank = _ranks(calls)
    # Outermost calls are laid end to end, so that one sweep serves them all.
    length = np.where(calls["depth"] == 1, end - start, 0)
    rows = np.flatnonzero(calls["blocking"])
    root = calls["root"].to_numpy()[rows]
    shift = (np.cumsum(length) - end)[root]
    first = np.maximum(start[rows], start[root]) + shift
    last = np.minimum(end[rows], end[root]) + shift
    order = np.argsort(first, kind="stable")
    first, last, root, rank = first[order], last[order], root[order], rank[rows[order]]
    taken = np.zeros(len(calls), dtype=np.int64)
    shares = {}
    for level in range(len(stages))[::-1]:
        inner = rank >= level
        covered = np.zeros(len(calls), dtype=np.int64)
        np.add.at(covered, root[inner], newly_covered(first[inner], last[inner]))
        gained = np.flatnonzero(covered - taken)
        critical_ps = (covered - taken)[gained]
        shares[stages[level]] = pd.Series(critical_ps, index=gained)
        taken = covered
    by_stage: pd.Series = pd.concat(shares, names=["stage", "root"])
    return by_stage.rename("critical_ps").reset_index()


def _ranks(calls: pd.DataFrame) -> tuple[list[str], Int64]:
    """All stages, whoever waits before whom it waits for, and the place of each call's stage among them.

    Stages that are equally deep go by the alphabet: a `MemoryCache` waits for its own `MemoryCacheImpl`.
    """
    stages = calls[["depth", "stage"]].drop_duplicates("stage").sort_values(["depth", "stage"])["stage"]
    return list(stages), pd.Index(stages).get_indexer(calls["stage"]).astype(np.int64)
