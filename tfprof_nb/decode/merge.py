"""Several runs of one host as one timeline, one after another."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Int32, Int64, Objects
from tfprof_nb.decode.host import Host, Line, Stat, StatValue
from tfprof_nb.decode.session_runs import RUNS
from tfprof_nb.decode.table import COLUMNS, build_host
from tfprof_nb.formats.marks import STEP_NUMBER
from tfprof_nb.formats.xspace import HOST_PLANE

# The values of these stats only matter by equality, and between runs none are equal.
_COUNTED = ("group_id", STEP_NUMBER, "correlation_id")
_IDENTIFYING = ("_p", "_c", "id", "parent_id", "addr")
_FAR = 0x9E37_79B9_7F4A_7C15  # odd and irregular: ids of different runs, shifted by multiples of it, do not collide

# Gaps between the runs are kept if they are at most this many times as long as the runs.
_GAPS = 10
_SEPARATION = 0.02
_MAX_APART_NS = 10**15
_SEPARATORS, _LINE_ID = "runs", -1


def merge_runs(hosts: Sequence[Host], name: str) -> Host:
    """Put runs one after another: at their own times if those are known and close together, else in order.

    Planes, lines and names that occur in several runs are merged. Each run is an event on a line ``runs`` of the host,
    unless the runs have a line of session runs.

    Parameters
    ----------
    hosts
        The runs, each decoded by itself, with the run's name.
    """
    starts, notes = _starts(hosts)
    order = np.argsort(starts, kind="stable").tolist()
    hosts, starts = [hosts[number] for number in order], [starts[number] for number in order]
    runs = tuple(int(start) for start in starts)
    if not any(line.name == RUNS for host in hosts for line in host.lines):
        hosts, starts = [*hosts, _separators(hosts, starts)], [*starts, 0]
    return replace(_merged(hosts, starts, name, notes), run_starts_ps=runs)


def _starts(hosts: Sequence[Host]) -> tuple[list[int], list[str]]:
    """Return the start of each run on the common timeline in picoseconds, and notes."""
    lengths = np.array([host.end_ps for host in hosts], dtype=np.int64)
    origins = np.array([host.origin_ns for host in hosts], dtype=np.int64)
    # Farther apart, the difference would not fit in int64.
    if origins.all() and int(origins.max()) - int(origins.min()) < _MAX_APART_NS:
        starts = (origins - origins.min()) * 1000
        order = np.argsort(starts, kind="stable")
        gaps = starts[order][1:] - (starts + lengths)[order][:-1]
        if (gaps >= 0).all() and gaps.sum() <= _GAPS * lengths.sum():
            return starts.tolist(), []
    else:
        order = np.argsort(origins, kind="stable") if origins.all() else np.arange(len(hosts))
    gap = int(lengths.sum() * _SEPARATION / len(hosts))
    starts = np.zeros(len(hosts), dtype=np.int64)
    starts[order[1:]] = np.cumsum(lengths[order] + gap)[:-1]
    return starts.tolist(), [f"{len(hosts)} runs are shown one after another, without the time between them."]


def _separators(hosts: Sequence[Host], starts: Sequence[int]) -> Host:
    """Return a host with one event per run, on a separate line."""
    names = [f"run {number}: {host.name}" for number, host in enumerate(hosts)]
    plane = next((host.planes[0].name for host in hosts if host.planes), HOST_PLANE)
    rows = pd.DataFrame({"name": names, "display_name": names, "start_ps": list(starts)})
    rows["duration_ps"] = [host.end_ps for host in hosts]
    rows = rows.assign(plane=plane, line=_SEPARATORS, line_id=_LINE_ID, args=None)
    return build_host(_SEPARATORS, rows[COLUMNS], {plane: {}})


def _merged(hosts: Sequence[Host], starts: Sequence[int], name: str, notes: Sequence[str]) -> Host:
    planes = {plane.name: plane for host in reversed(hosts) for plane in reversed(host.planes)}
    plane_number = {plane: number for number, plane in enumerate(planes)}
    line_keys = [(host.planes[line.plane].name, line.id, line.name) for host in hosts for line in host.lines]
    line_number = {key: number for number, key in enumerate(dict.fromkeys(line_keys))}
    of_line = np.array([line_number[key] for key in line_keys], dtype=np.int32)
    line = of_line[_joined([host.line for host in hosts], [len(host.lines) for host in hosts])]
    start_ps = np.concatenate([host.start_ps + start for host, start in zip(hosts, starts, strict=True)])
    duration_ps = np.concatenate([host.duration_ps for host in hosts])
    order = np.lexsort((-duration_ps, start_ps, line))
    bounds = np.searchsorted(line[order], np.arange(len(line_number) + 1)).tolist()
    spans = zip(line_number, pairwise(bounds), strict=True)
    metadata, names, display_names = _names(hosts)
    return Host(
        name=name,
        planes=tuple(planes.values()),
        lines=tuple(Line(plane_number[plane], number, label, *span) for (plane, number, label), span in spans),
        line=line[order],
        metadata=metadata[order],
        start_ps=start_ps[order],
        duration_ps=duration_ps[order],
        names=names,
        display_names=display_names,
        _stats=MergedStats(hosts, order),
        errors=tuple(dict.fromkeys(error for host in hosts for error in host.errors)),
        warnings=tuple(dict.fromkeys(warning for host in hosts for warning in host.warnings)),
        origin_ns=min(host.origin_ns for host in hosts if host.name != _SEPARATORS),
        notes=(*notes, *dict.fromkeys(note for host in hosts for note in host.notes)),
        marks=sum(host.marks for host in hosts),
        marks_end_ps=max(host.marks_end_ps + start for host, start in zip(hosts, starts, strict=True)),
        _complete=lambda: _merged([host.complete() for host in hosts], starts, name, notes),
    )


def _joined(columns: Sequence[Int32], counts: Sequence[int]) -> Int32:
    """Concatenate indices into lists that are concatenated, too; ``counts`` has the lists' lengths."""
    before = np.cumsum([0, *counts])[:-1]
    return np.concatenate([column + first for column, first in zip(columns, before, strict=True)]).astype(np.int32)


def _names(hosts: Sequence[Host]) -> tuple[Int32, Objects, Objects]:
    """Return a code for the name of each event, and the full and the short name of each code."""
    names = np.concatenate([host.names for host in hosts])
    display_names = np.concatenate([host.display_names for host in hosts])
    full, _ = pd.factorize(names)
    short, _ = pd.factorize(display_names)
    code, _ = pd.factorize(full.astype(np.int64) * (len(short) + 1) + short)
    _, first = np.unique(code, return_index=True)
    metadata = _joined([host.metadata for host in hosts], [len(host.names) for host in hosts])
    return code.astype(np.int32)[metadata], names[first], display_names[first]


def _told_apart(values: Sequence[Int64]) -> list[Int64]:
    """Return values that differ between runs; negative ones, which stand for none, stay as they are."""
    before = np.cumsum([0, *(int(value.max(initial=-1)) + 1 for value in values)], dtype=object)
    if before[-1] >= 1 << 63:  # then the values are no counts: number those that occur
        values = [_numbered(value) for value in values]
        return _told_apart(values)
    return [np.where(value >= 0, value + int(more), value) for value, more in zip(values, before[:-1], strict=True)]


def _numbered(value: Int64) -> Int64:
    counted = value >= 0
    numbered = value.copy()
    numbered[counted] = np.unique(value[counted], return_inverse=True)[1]
    return numbered


class MergedStats:
    """The stats of several hosts' events, in a new order; see `host.StatSource`."""

    def __init__(self, hosts: Sequence[Host], order: npt.NDArray[np.intp]) -> None:
        self._hosts = hosts
        self._order = order
        self._first = np.cumsum([0, *(len(host) for host in hosts)])[:-1]

    def ints(self, stat: str) -> Stat:
        """See `Host.ints`. Stats that connect events differ between runs."""
        parts = [host.ints(stat) for host in self._hosts]
        values = [part.values.astype(np.int64) for part in parts]
        if stat in _COUNTED:
            values = _told_apart(values)
        elif stat in _IDENTIFYING:
            values = [
                (value.view(np.uint64) + np.uint64(run * _FAR % 2**64)).view(np.int64)
                for run, value in enumerate(values)
            ]
        return self._in_order(parts, values)

    def floats(self, stat: str) -> Stat:
        """See `Host.floats`."""
        parts = [host.floats(stat) for host in self._hosts]
        return self._in_order(parts, [part.values for part in parts])

    def texts(self, stat: str) -> Stat:
        """See `Host.texts`."""
        parts = [host.texts(stat) for host in self._hosts]
        lists = [np.array([], dtype=object) if part.categories is None else part.categories for part in parts]
        codes, categories = pd.factorize(np.concatenate(lists))
        codes_of = np.split(codes, np.cumsum([len(each) for each in lists])[:-1])
        values = [own[part.values.astype(np.int64)] for own, part in zip(codes_of, parts, strict=True)]
        merged = self._in_order(parts, values)
        return Stat(merged.rows, merged.values.astype(np.int32), categories)

    def of_row(self, row: int) -> dict[str, StatValue]:
        """See `Host.stats_of`."""
        joined = int(self._order[row])
        number = int(np.searchsorted(self._first, joined, side="right")) - 1
        return self._hosts[number].stats_of(joined - int(self._first[number]))

    def names(self) -> list[str]:
        """See `Host.stat_names`."""
        return list(dict.fromkeys(name for host in self._hosts for name in host.stat_names()))

    def _in_order(self, parts: Sequence[Stat], values: Sequence[npt.NDArray[np.generic]]) -> Stat:
        rows = np.concatenate([part.rows + first for part, first in zip(parts, self._first, strict=True)])
        places = self._places[rows]
        order = np.argsort(places)
        return Stat(places[order], np.concatenate(values)[order])

    @cached_property
    def _places(self) -> Int64:
        places = np.empty(len(self._order), dtype=np.int64)
        places[self._order] = np.arange(len(self._order))
        return places
