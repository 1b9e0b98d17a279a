"""Which tracks a trace has, in which order, and which of their lanes each event lies on."""

import heapq
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Bools, Int32, Int64, Objects
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.names import Category
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.analysis.trace.device_lines import DerivedLine, device_lines
from tfprof_nb.analysis.trace.python_samples import SAMPLED
from tfprof_nb.formats.marks import CELL_LINE, GRADIENTS, LOOP_LINE
from tfprof_nb.formats.xspace import ALLOCATION, DEALLOCATION, THREADPOOL_PREFIX

# Bookkeeping of the runtime, of no or almost no length; allocations have a page of their own.
_HIDDEN = (LOOP_LINE, GRADIENTS, ALLOCATION, DEALLOCATION, THREADPOOL_PREFIX)
# Events with a track of their own above their thread: the lines of the profiled cell, and calls of Python functions
# (`python_level=1`), whose names start so.
_APART = {CELL_LINE: ("statements", "Cell lines"), "$": ("python", "Python calls")}
_ID_SUFFIX = re.compile(r"/-?\d+$")
_DERIVED_FIRST = ("statements", "python", "modules", "scopes", "ops")
_PROGRAM_THREADS = ("python", "main")
# So many of a section's busiest tracks are always open; tracks less busy than the share are folded.
_ALWAYS_OPEN, _IDLE_SHARE = 8, 0.002
# Kinds of tracks whose events were made of others instead of recorded; kinds that only hosts have.
MADE = ("modules", "scopes", "ops")
ON_HOST = ("statements", "python", "thread")
COLUMNS = ["host", "plane", "kind", "label", "events", "busy_share"]


@dataclass(frozen=True, eq=False)
class Layout:
    """The events of all hosts in display order: by track, depth in it, and start.

    Attributes
    ----------
    tracks
        One row per track, in display order: ``host plane kind label events busy_share``, its section ``group``,
        whether it is ``idle``, its ``host_index`` and its ``line`` there (from the host's number of lines on: derived).
    bounds, lane_track, lane_depth
        Lane k is depth ``lane_depth[k]`` of track ``lane_track[k]``, and holds the events from ``bounds[k]`` on.
    host_index, host_event
        Per event: its host, and its position among the host's events; if it was made of others, that of the first.
    start_ps, end_ps, name
        Per event: its times, and the code of its name.
    names, kinds, labels
        By name code: the name, the type that decides its colour, and the label on its events.
    """

    tracks: pd.DataFrame
    bounds: Int64
    lane_track: Int64
    lane_depth: Int64
    host_index: npt.NDArray[np.int16]
    host_event: Int32
    start_ps: Int64
    end_ps: Int64
    name: Int32
    names: Objects
    kinds: Objects
    labels: Objects

    def __len__(self) -> int:
        return len(self.host_event)

    @cached_property
    def recorded(self) -> Bools:
        """Per event: whether it was recorded as it is, not made of others."""
        recorded_lanes = ~self.tracks["kind"].isin(MADE).to_numpy()[self.lane_track]
        return np.repeat(recorded_lanes, np.diff(self.bounds))


def lay_out(forests: Sequence[Forest], groupings: Sequence[Grouping]) -> Layout:
    """Give every event its place."""
    derived = [
        [*_set_apart(forest), *device_lines(forest, grouping.group)]
        for forest, grouping in zip(forests, groupings, strict=True)
    ]
    vocabulary = _Vocabulary()
    frames = [
        frame
        for index, (forest, lines) in enumerate(zip(forests, derived, strict=True))
        for frame in _host_frames(index, forest, lines, vocabulary)
    ]
    events = pd.concat(frames, ignore_index=True) if frames else _frame(0, 0, *(np.zeros(0, np.int64),) * 4)
    tracks = _tracks(forests, derived, events)
    return _ordered(events, tracks, vocabulary)


def _set_apart(forest: Forest) -> list[DerivedLine]:
    """Return lines of events that were recorded on a thread, but have a track of their own."""
    host = forest.host
    lines = []
    for prefix, (kind, label) in _APART.items():
        events = np.flatnonzero(forest.name_starts(prefix) & _may_be_apart(forest))
        for line in np.unique(host.line[events]).tolist():
            mine = events[host.line[events] == line]
            start, names = host.start_ps[mine], host.display_names[host.metadata[mine]]
            lines.append(DerivedLine(line, kind, label, names, start, start + host.duration_ps[mine], mine))
    return lines


def _may_be_apart(forest: Forest) -> Bools:
    """Return per event whether a host's thread recorded it: a sampled line of the cell has its calls below it."""
    sampled = np.array([line.name in SAMPLED for line in forest.host.lines], dtype=bool)
    recorded: Bools = forest.on_host & ~sampled[forest.host.line]
    return recorded


class _Vocabulary:
    """Codes for names, shared by all hosts."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._kinds: list[str] = []
        self._labels: list[str] = []

    def codes(self, names: Objects, kinds: Objects, labels: Objects) -> Int64:
        for name, kind, label in zip(names, kinds, labels, strict=True):
            if name not in self._codes:
                self._codes[name] = len(self._codes)
                self._kinds.append(str(kind or name))
                self._labels.append(str(label or name))
        return np.array([self._codes[name] for name in names], dtype=np.int64)

    def columns(self) -> list[Objects]:
        return [np.array(column, dtype=object) for column in (list(self._codes), self._kinds, self._labels)]


def _host_frames(
    index: int, forest: Forest, derived: Sequence[DerivedLine], vocabulary: _Vocabulary
) -> list[pd.DataFrame]:
    host = forest.host
    hidden = forest.name_starts(*_HIDDEN) | (forest.name_starts(*_APART) & _may_be_apart(forest)) | forest.are_counters
    events = np.flatnonzero(~hidden)
    kinds = np.where(forest.names.op_type == "", host.names, forest.names.op_type)
    # Ops need their whole names to be distinct; other events with a short name often have a very long one (XLA, C++).
    names = np.where(forest.names.category != Category.UNKNOWN, host.names, host.display_names)
    used, code = np.unique(host.metadata[events], return_inverse=True)
    codes = vocabulary.codes(names[used], kinds[used], host.display_names[used])[code]
    start, line = host.start_ps[events], host.line[events].astype(np.int64)
    frames = [_frame(index, line, events, codes, start, forest.ends_ps(events))]
    for number, made in enumerate(derived, start=len(host.lines)):
        code, names = pd.factorize(made.names)
        kinds = np.array([_type_of(name) for name in names], dtype=object)
        codes = vocabulary.codes(names, kinds, np.array([_label_of(name) for name in names], dtype=object))[code]
        frames.append(_frame(index, np.full(len(codes), number), made.host_event, codes, made.start_ps, made.end_ps))
    return frames


def _type_of(name: str) -> str:
    """Return what decides the colour of an event of a derived line: the op's type, or the file of a Python function."""
    return name.partition(":")[0] if name.startswith("$") else name.rpartition(":")[2]


def _label_of(name: str) -> str:
    """Return an op's name without its scopes and its type; other names whole."""
    op, colon, _ = name.partition(":")
    return op.rpartition("/")[2] if colon and not name.startswith("$") else name


def _frame(index: int, line: Int64 | int, host_event: Int64, name: Int64, start: Int64, end: Int64) -> pd.DataFrame:
    """Return events of one host (``index``) with their lanes; arrays have one entry per event, times in ps."""
    lines = np.broadcast_to(np.asarray(line, dtype=np.int64), host_event.shape)
    return pd.DataFrame(
        {
            "host_index": np.full(len(host_event), index, dtype=np.int16),
            "line": lines.astype(np.int32),
            "host_event": host_event.astype(np.int32),
            "name": name.astype(np.int32),
            "start_ps": start,
            "end_ps": end,
            "depth": lane_depths(lines, start, end).astype(np.int32),
        }
    )


def _tracks(forests: Sequence[Forest], derived: Sequence[Sequence[DerivedLine]], events: pd.DataFrame) -> pd.DataFrame:
    """Return one track per line with events: devices before hosts, a program's own thread first, then the busiest."""
    outer = events[events["depth"] == 0]
    busy = (outer["end_ps"] - outer["start_ps"]).groupby([outer["host_index"], outer["line"]]).sum().to_dict()
    counts = events.groupby(["host_index", "line"], sort=False).size()
    span = max(int(events["end_ps"].max()) if len(events) else 0, 1)
    # Samples of a host's Python are beside its threads.
    planes = dict.fromkeys((forest.host.name, plane.name) for forest in forests for plane in forest.host.planes)
    sections = {key: k for k, key in enumerate(planes)}
    tracks = []
    for index, line, count in counts.reset_index().to_numpy().tolist():
        track = _track(forests[index], line, derived[index])
        ran = {"events": count, "busy_share": min(busy.get((index, line), 0) / span, 1.0)}
        # Devices before hosts, and derived lines right above the line that they were made of.
        busiest = -busy.get((index, track["of"]), 0)
        section = sections[track["host"], track["plane"]]
        order = (not track["device"], section, index, not track["first"], busiest, track["of"], track["above"])
        tracks.append({**track, **ran, "host_index": index, "line": line, "order": order})
    tracks.sort(key=lambda track: track["order"])
    table = pd.DataFrame(tracks, columns=[*COLUMNS, "host_index", "line", "first"])
    table["group"] = table.groupby(["host", "plane"], sort=False).ngroup().astype(int)
    place = table.groupby("group").cumcount()
    table["idle"] = ~table["first"].astype(bool) & (place >= _ALWAYS_OPEN) & (table["busy_share"] < _IDLE_SHARE)
    return table.drop(columns="first").assign(label=_numbered_labels(table))


def _track(forest: Forest, line: int, derived: Sequence[DerivedLine]) -> dict[str, Any]:
    own = len(forest.host.lines)
    made = derived[line - own] if line >= own else None
    of = made.of if made else line
    recorded, device = forest.host.lines[of], bool(forest.line_is_device[of])
    label = _ID_SUFFIX.sub("", recorded.name) or ("unnamed stream" if device else "unnamed thread")
    own_thread = recorded.name.startswith(_PROGRAM_THREADS)
    if made:
        label = made.label if own_thread else f"{made.label}: {label.partition('(')[0]}"
    kind = made.kind if made else _kind(recorded.name, device)
    return {
        "host": forest.host.name,
        "plane": forest.host.planes[recorded.plane].name,
        "kind": kind,
        "label": label,
        "of": of,
        "device": device,
        "first": own_thread or bool(forest.line_is_derived[of]),
        "above": _DERIVED_FIRST.index(kind) if made else len(_DERIVED_FIRST),
    }


def _kind(name: str, device: bool) -> str:
    if name == "Steps":
        return "steps"
    return "stream" if device else "thread"


def _numbered_labels(tracks: pd.DataFrame) -> pd.Series:
    """Number the tracks of a group that share a label: thread ids would mean nothing to a reader."""
    same = tracks.groupby(["group", "label"])["label"]
    number = (same.cumcount() + 1).astype(str)
    return tracks["label"].where(same.transform("size") == 1, tracks["label"] + " " + number)


def _ordered(events: pd.DataFrame, tracks: pd.DataFrame, vocabulary: _Vocabulary) -> Layout:
    """Order events by track, depth and start; within their line they are ordered by start already."""
    shape = (events["host_index"].max() + 1, events["line"].max() + 1) if len(events) else (1, 1)
    track_of = np.zeros(shape, np.int64)
    track_of[tracks["host_index"].astype(int), tracks["line"].astype(int)] = np.arange(len(tracks))
    depth = events["depth"].to_numpy()
    deepest = np.zeros(len(tracks), dtype=np.int64)
    track = track_of[events["host_index"], events["line"]]
    np.maximum.at(deepest, track, depth)
    first_lane = np.cumsum(np.r_[0, deepest + 1])
    lane = first_lane[track] + depth
    # For 16-bit integers numpy's stable sort is a radix sort.
    order = np.argsort(lane.astype(np.uint16) if first_lane[-1] < 1 << 16 else lane, kind="stable")
    counts = np.bincount(lane, minlength=first_lane[-1])
    lanes = np.arange(first_lane[-1])
    lane_track = np.searchsorted(first_lane, lanes, side="right") - 1
    per_event = ("host_index", "host_event", "start_ps", "end_ps", "name")
    column = {name: events[name].to_numpy()[order] for name in per_event}
    names, kinds, labels = vocabulary.columns()
    bounds, lane_depth = np.cumsum(np.r_[0, counts]), lanes - first_lane[lane_track]
    return Layout(tracks, bounds, lane_track, lane_depth, names=names, kinds=kinds, labels=labels, **column)


def lane_depths(line: Int64, start: Int64, end: Int64) -> Int64:
    """Return the depth of each event on its line, so that no two events of one depth overlap.

    Parameters
    ----------
    line, start, end
        One entry per event, ordered by line, then start (ascending), then length (descending).

    Examples
    --------
    >>> lane_depths(np.zeros(3, int), np.array([0, 10, 50]), np.array([40, 20, 60])).tolist()
    [0, 1, 0]
    """
    depth = np.zeros(len(start), dtype=np.int64)
    bounds = np.flatnonzero(np.diff(line, prepend=-1, append=-1)) if len(line) else np.zeros(1, dtype=np.int64)
    for first, last in pairwise(bounds):
        here = slice(first, last)
        ends = np.maximum(end[here], start[here] + 1)
        depth[here] = np.arange(last - first) - np.searchsorted(np.sort(ends), start[here], side="right")
        if _overlap(depth[here], start[here], ends):
            depth[here] = _first_fit(start[here], ends)
    return depth


def _overlap(depth: Int64, start: Int64, end: Int64) -> bool:
    """Whether events of one depth overlap; arrays have one entry per event of a line."""
    order = np.lexsort((start, depth))
    same_lane = np.diff(depth[order]) == 0
    return bool((same_lane & (start[order][1:] < end[order][:-1])).any())


def _first_fit(start: Int64, end: Int64) -> Int64:
    """Give each event the first free lane: for the few lines with events that overlap without nesting."""
    depth = np.zeros(len(start), dtype=np.int64)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    lanes = 0
    for index, (begins, ends) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while busy and busy[0][0] <= begins:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane, lanes = lanes, lanes + 1
        depth[index] = lane
        heapq.heappush(busy, (ends, lane))
    return depth
