"""Calls of tf.data iterators, linked across threads by which call waited for which.

An iterator calls the one before it on its own thread, or takes an element that another thread made. Such elements
are linked by the `Produce` and `Consume` events around them (`ConnectTfDataEvents` in XLA's `group_events.cc`).
"""

import re

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.intervals import split_by_priority

PREFIX = "Iterator::"
_MAKING = "MakeIterator::"
_NO_ID = np.iinfo(np.int64).min
# Names of events that make or take an element end so.
PRODUCED, CONSUMED = "Produce", "Consume"
NO_CALL = -1

# Stages that the runtime puts around every pipeline; what optimisers add has a graph name of its own.
RUNTIME_STAGES = frozenset({"Root", "Model", "MaxIntraOpParallelism", "PrivateThreadPool", "Options"})
# Kinds of iterators that read files.
FILE_READERS = frozenset(
    {"TFRecord", "TextLine", "FixedLengthRecord", "SSTable", "RecordIO", "ArrayRecord", "CSV", "SQL", "LMDB"}
)
_ADDED_BY_OPTIMISER = "inject/"
_BRANCH = re.compile(r"\[\d+\]")
_VERSION = re.compile(r"V\d+$")
# The first iterator of a pipeline that runs on a device: it takes elements from the host's pipeline. (A generator in
# Python stands below a FlatMap.)
_DEVICE_SOURCES = ("Iterator::Prefetch::Generator", "Iterator::Root::Prefetch::Generator")
# All stages of such a pipeline.
DEVICE_STAGES = frozenset({*_DEVICE_SOURCES, "Iterator::Prefetch", "Iterator::Root", "Iterator::Root::Prefetch"})


def stage_of(event_name: str) -> str:
    """Return the stage of an iterator's event: its name without the numbers of parallel branches.

    Examples
    --------
    >>> stage_of("Iterator::Root::FlatMap[12]::TFRecord")
    'Iterator::Root::FlatMap::TFRecord'
    """
    return _BRANCH.sub("", event_name)


def iterator_type(stage: str) -> str:
    """Return the kind of an iterator, without its version.

    Examples
    --------
    >>> iterator_type("Iterator::Root::Prefetch::ParallelMapV2")
    'ParallelMap'
    """
    return _VERSION.sub("", short_name(stage))


def short_name(stage: str) -> str:
    """Return the last part of a stage's name.

    Examples
    --------
    >>> short_name("Iterator::Root::Prefetch::ParallelMapV2")
    'ParallelMapV2'
    """
    return stage.rpartition("::")[2]


def iterator_calls(forest: Forest) -> pd.DataFrame:
    """Return every call of a tf.data iterator on one host.

    Returns
    -------
    DataFrame
        One row per call: ``id`` and ``parent_id`` (of the iterator, modulo 2**64), ``iterator`` (number of the
        iterator), ``stage`` (see `stage_of`), ``dataset`` (its name in the graph, as ``MapDataset:2``; empty in
        older files), ``injected`` (put there by the runtime), ``device_source``, ``start_ps``, ``duration_ps``, and

        - ``parent``: position of the call that waited for this one, -1 for none; ``root``: that of the outermost
          call, -1 if the capture does not show it;
        - ``self_ps``: time in which the call ran and none of the calls that it waited for did;
        - ``blocking``: whether this call delayed the outermost one at some moment;
        - ``making``: whether it is no call, but an iterator made the one before it anew, as a shuffle does in each
          pass. That takes long where functions are set up.
    """
    calls = _calls(forest)
    calls = pd.concat([calls.assign(making=False), _makings(forest, calls)], ignore_index=True)
    calls["parent"] = _parents(forest, calls)
    calls["self_ps"] = calls["duration_ps"] - _covered_by_children(calls)
    calls["root"], calls["blocking"] = _from_the_root(calls)
    return calls


def _calls(forest: Forest) -> pd.DataFrame:
    host = forest.host
    ids = host.ints("id").rows
    events = ids[forest.on_host[ids] & forest.names_starting(PREFIX)[host.metadata[ids]]]
    names = pd.Series(host.names, dtype=object).astype(str)
    frame = pd.DataFrame(
        {
            "stage": names.map(stage_of),
            "depth": names.str.count("::"),
            "device_source": names.isin(_DEVICE_SOURCES),
            "injected": names.map(short_name).isin(RUNTIME_STAGES),
        }
    ).iloc[host.metadata[events]]
    frame = frame.assign(
        event=events,
        id=host.ints("id").at(events),
        parent_id=host.ints("parent_id").at(events),
        start_ps=host.start_ps[events],
        duration_ps=host.duration_ps[events],
    ).reset_index(drop=True)
    labels, codes = _labels(forest, events)
    frame["injected"] |= np.array([label.startswith(_ADDED_BY_OPTIMISER) for label in labels], dtype=bool)[codes]
    # A new iterator may get the id of an earlier one: so the dataset's label counts too, where there is one.
    frame["iterator"] = frame.assign(label=codes).groupby(["id", "label"]).ngroup()
    frame["dataset"] = np.array(labels, dtype=object)[codes]
    return frame


def _makings(forest: Forest, calls: pd.DataFrame) -> pd.DataFrame:
    """Return how iterators made those before them within a call, as rows of these."""
    host, around = forest.host, calls["event"].to_numpy(np.int64)
    events = np.flatnonzero(forest.names_starting(_MAKING)[host.metadata] & forest.on_host)
    caller = forest.nearest_ancestor(events, np.concatenate([around, events]))
    outermost = (caller >= 0) & (caller < len(around))  # and in no other one
    events, callers = events[outermost], calls.iloc[caller[outermost]]
    kinds = pd.Series([_made(str(host.names[name])) for name in host.metadata[events]], callers.index, dtype=object)
    made = callers.assign(
        stage=callers["stage"].astype(str) + "::" + kinds.astype(str),
        depth=callers["depth"] + 1,
        device_source=False,
        event=events,
        id=_NO_ID,
        parent_id=_NO_ID,
        start_ps=host.start_ps[events],
        duration_ps=host.duration_ps[events],
        dataset="",
        making=True,
    )
    return made[made["stage"].isin(calls["stage"])]


def _made(event: str) -> str:
    """Return the kind of iterator that an event makes, as names of iterators have it.

    Examples
    --------
    >>> _made("MakeIterator::ParallelMapDatasetV2")
    'ParallelMapV2'
    """
    return event.removeprefix(_MAKING).replace("Dataset", "", 1)


def _labels(forest: Forest, events: Int64) -> tuple[list[str], Int64]:
    """Return the names of datasets in their graph (older files have none), and each event's index among them."""
    texts = forest.host.texts("name")
    labels = [str(text) for text in texts.categories] if texts.categories is not None else []
    return [*labels, ""], texts.at(events, missing=len(labels)).astype(np.int64)


def _parents(forest: Forest, calls: pd.DataFrame) -> Int64:
    """Return the call that waited for each: the one around it on its thread, or the one that consumed its element."""
    events, depth = calls["event"].to_numpy(np.int64), calls["depth"].to_numpy()
    producers, elements = element_events(forest, PRODUCED)
    around = forest.nearest_ancestor(events, np.concatenate([events, producers]))
    nested = np.flatnonzero((around >= 0) & (around < len(events)))
    nested = nested[depth[around[nested]] <= depth[nested]]
    parent = np.full(len(events), NO_CALL, dtype=np.int64)
    parent[nested] = around[nested]
    made = np.flatnonzero(around >= len(events))
    produced = pd.DataFrame({"call": made, "id": calls["parent_id"].to_numpy()[made]})
    produced["element"] = elements[around[made] - len(events)]
    links = _links(calls, produced, _consumed(forest, calls))
    # A call that waits is nearer to the root: so no accidental match of ids can close a circle.
    links = links[depth[links["consumer"]] < depth[links["call"]]]
    parent[links["call"]] = links["consumer"]
    return parent


def _links(calls: pd.DataFrame, produced: pd.DataFrame, consumed: pd.DataFrame) -> pd.DataFrame:
    """Return pairs of a call that made an element (``call``) and the one that waited for it (``consumer``)."""
    linked = produced.merge(consumed, on=["id", "element"]).drop_duplicates("call")
    left = produced[~produced["call"].isin(linked["call"])]
    return pd.concat([linked, _never_consumed(calls, left, consumed)])[["call", "consumer"]]


def element_events(forest: Forest, suffix: str) -> tuple[Int64, Int64]:
    """Return the events that make or take an element, and the elements' ids."""
    named = np.array([str(name).endswith(suffix) for name in forest.host.names], dtype=bool)
    stat = forest.host.ints("element_id")
    mine = named[forest.host.metadata[stat.rows]]
    return stat.rows[mine], stat.values[mine].astype(np.int64)


def _consumed(forest: Forest, calls: pd.DataFrame) -> pd.DataFrame:
    """Return which call (``consumer``) of which iterator (``id``) took which ``element``."""
    events, elements = element_events(forest, CONSUMED)
    consumer = forest.nearest_ancestor(events, calls["event"].to_numpy(np.int64))
    consumer, elements = consumer[consumer >= 0], elements[consumer >= 0]
    return pd.DataFrame({"id": calls["id"].to_numpy()[consumer], "element": elements, "consumer": consumer})


def _never_consumed(calls: pd.DataFrame, left: pd.DataFrame, consumed: pd.DataFrame) -> pd.DataFrame:
    """Link work that produced no element, as at the end of the data, to the call that waited for it in vain."""
    end = calls["start_ps"] + calls["duration_ps"]
    waiting = calls.assign(end=end)[~calls.index.isin(consumed["consumer"])][["id", "start_ps", "end"]]
    waiting = waiting.rename_axis("consumer").reset_index().sort_values("end")
    made = left[["call", "id"]].assign(end=end.to_numpy()[left["call"]]).sort_values("end")
    pairs = pd.merge_asof(made, waiting, on="end", by="id", direction="forward").dropna()
    return pairs[pairs["start_ps"] < pairs["end"]].astype({"consumer": np.int64})


def _covered_by_children(calls: pd.DataFrame) -> Int64:
    """Return the picoseconds of each call in which at least one of its children ran."""
    child, start, end = _inside_parent(calls)
    parent = calls["parent"].to_numpy()[child]
    origin = calls["start_ps"].to_numpy()[parent]
    shares = split_by_priority(parent, start - origin, end - origin, np.zeros_like(child), len(calls))
    return sum(shares.values(), np.zeros(len(calls), dtype=np.int64))


def _inside_parent(calls: pd.DataFrame) -> tuple[Int64, Int64, Int64]:
    """Return the calls that overlap with the call waiting for them, and start and end of the overlap (ps)."""
    parent = calls["parent"].to_numpy()
    start = calls["start_ps"].to_numpy()
    end = start + calls["duration_ps"].to_numpy()
    child = np.flatnonzero(parent >= 0)
    first = np.maximum(start[child], start[parent[child]])
    last = np.minimum(end[child], end[parent[child]])
    overlap = last > first
    return child[overlap], first[overlap], last[overlap]


def _from_the_root(calls: pd.DataFrame) -> tuple[Int64, Bools]:
    """Return per call its outermost call, and whether the call delayed it at some moment; from the root inwards."""
    parent = calls["parent"].to_numpy()
    overlaps = np.zeros(len(calls), dtype=bool)
    overlaps[_inside_parent(calls)[0]] = True
    blocking = calls["depth"].to_numpy() == 1
    root = np.where(blocking, np.arange(len(calls)), NO_CALL)
    waiting = np.flatnonzero(parent >= 0)
    while (ready := root[parent[waiting]] >= 0).any():
        reached, waiting = waiting[ready], waiting[~ready]
        root[reached] = root[parent[reached]]
        blocking[reached] = blocking[parent[reached]] & overlaps[reached]
    return root, blocking


def critical_time(calls: pd.DataFrame) -> pd.DataFrame:
    """Divide the time of each outermost call: every moment counts for the innermost stage that delays it then.

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
    blocking = np.flatnonzero(calls["blocking"])
    root = calls["root"].to_numpy()[blocking]
    first = np.maximum(start[blocking], start[root]) - start[root]
    last = np.minimum(end[blocking], end[root]) - start[root]
    shares = {}
    for level, time in split_by_priority(root, first, last, rank[blocking], len(calls)).items():
        gained = np.flatnonzero(time)
        shares[stages[level]] = pd.Series(time[gained], index=gained)
    by_stage: pd.Series = pd.concat(shares, names=["stage", "root"])
    return by_stage.rename("critical_ps").reset_index()


def _ranks(calls: pd.DataFrame) -> tuple[list[str], Int64]:
    """Return all stages, each before the stages that it waits for, and the place of each call's stage among them.

    Stages of one depth are ordered by name: a `MemoryCache` waits for its own `MemoryCacheImpl`.
    """
    stages = calls[["depth", "stage"]].drop_duplicates("stage").sort_values(["depth", "stage"])["stage"]
    return list(stages), pd.Index(stages).get_indexer(calls["stage"]).astype(np.int64)
