"""Every event on its row of time: the data behind the trace viewer, at any zoom.

The form in which a trace goes to the browser is described in docs/trace-format.md.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb.analysis.forest import Forest
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.steps import PS_PER_MS, Steps
from tfprof_nb.analysis.track_layout import lane_depths

Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

PALETTE_SIZE = 21
# Bookkeeping of the runtime, zero or next to zero long; allocations have a view of their own.
_HIDDEN = ("MemoryAllocation", "MemoryDeallocation", "ThreadpoolListener::")
_TRACK_FIELDS = ["group", "label", "kind", "busy_share"]
_WIDTHS = {"gap": 6, "duration": 6, "name": 3}
_ID_SUFFIX = re.compile(r"/-?\d+$")


class Trace(Result):
    """The events of all hosts, laid out on tracks; ``table`` has one row per track.

    It answers what a timeline asks (`render.panels.TimelineSource`), and `query` for everyone else.
    """

    def __init__(self, forests: Sequence[Forest], steps: Steps) -> None:
        self._forests = forests
        self._steps = steps
        events = _all_events(forests)
        self._tracks = tracks = _tracks(forests, events)
        self._events = _in_display_order(events, tracks)
        summary = {"events": len(self._events), "rows": len(tracks), "span_ms": self.span_ps / PS_PER_MS}
        super().__init__(tracks.drop(columns=["host_index", "line"]), summary, _notes(forests, self._events))

    @property
    def span_ps(self) -> int:
        """Time from the start of the profile to the end of its last event."""
        return int(self._events["end_ps"].max()) if len(self._events) else 0

    def header(self) -> dict[str, Any]:
        """Return everything but the events, ready for JSON."""
        names, types = self._names
        return {
            "version": 1,
            "unit_ps": self._unit_ps,
            "span_ps": self.span_ps,
            "events": len(self._events),
            "names": list(names),
            "colors": [zlib.crc32(str(kind).encode()) % PALETTE_SIZE for kind in types],
            "groups": self._groups,
            "tracks": [
                {**track, "depths": depths}
                for track, depths in zip(self._tracks[_TRACK_FIELDS].to_dict("records"), self._depths, strict=True)
            ],
            "steps": self._step_marks,
            "notes": self.notes,
        }

    def payload(self) -> bytes:
        """Return all events as compressed columns."""
        start, end = (self._events[column].to_numpy() for column in ("start_ps", "end_ps"))
        before = np.roll(end, 1)
        before[_opens_lane(self._events)] = 0
        columns = {
            "gap": (start - before) // self._unit_ps,
            "duration": (end - start) // self._unit_ps,
            "name": self._name_codes,
        }
        planes = [_byte_planes(columns[name], width) for name, width in _WIDTHS.items()]
        return zlib.compress(b"".join(planes), level=1)

    def overview(self, bins: int) -> tuple[npt.NDArray[np.float64], list[str]]:
        """Return how busy (0 to 1) each track is in each of ``bins`` equal parts of the profile, and the labels."""
        edges = np.linspace(0, max(self.span_ps, 1), bins + 1)
        busy = np.zeros((len(self._tracks), bins))
        for track, (start, length) in enumerate(self._outer):
            before = np.cumsum(length) - length
            at = np.searchsorted(start, edges, side="right")
            last = np.maximum(at - 1, 0)
            covered = before[last] + np.clip(edges - start[last], 0, length[last])
            busy[track] = np.diff(np.where(at > 0, covered, 0)) / np.diff(edges)
        return np.clip(busy, 0, 1), [str(label) for label in self._tracks["label"]]

    def details(self, event: int) -> dict[str, Any]:
        """Return name, place, time and every stat of one event, by its position in the payload."""
        found = self._events.iloc[event]
        host = self._forests[int(found["host_index"])].host
        row = int(found["row"])
        line = host.lines[int(host.line[row])]
        return {
            "name": str(host.names[host.metadata[row]]),
            "host": host.name,
            "plane": host.planes[line.plane].name,
            "line": line.name,
            "start_ps": int(host.start_ps[row]),
            "duration_ps": int(host.duration_ps[row]),
            **host.stats_of(row),
        }

    def query(self, start_ps: int, end_ps: int, max_slices: int) -> pd.DataFrame:
        """Return what runs between two times, in at most ``max_slices`` rows.

        Where events are too many, short neighbours of one lane are merged: ``events`` says how many a row stands for,
        ``name`` is the longest one's.

        Returns
        -------
        DataFrame
            ``track depth name start_ps end_ps events``, ordered by track, depth and start.
        """
        if max_slices < 1:
            raise ValueError(f"max_slices must be at least 1, not {max_slices}.")
        events = self._events
        inside = (events["start_ps"] < end_ps) & (events["end_ps"] >= start_ps)
        shown = events[["track", "depth", "start_ps", "end_ps"]].assign(name=self._name_codes, events=1)[inside]
        if len(shown) > max_slices:
            lanes = int(_opens_lane(shown).sum())
            shown = _merged(shown, max((end_ps - start_ps) * 2 * lanes / max_slices, 1))
            # Where even these are too many: what stands for most, then what is longest.
            order = np.lexsort((shown["start_ps"] - shown["end_ps"], -shown["events"]))
            shown = shown.iloc[np.sort(order[:max_slices])]
        named = shown.assign(name=self._names[0][shown["name"]])
        return named[["track", "depth", "name", "start_ps", "end_ps", "events"]].reset_index(drop=True)

    @cached_property
    def _depths(self) -> list[list[int]]:
        """How many events each depth of each track has."""
        first = np.flatnonzero(_opens_lane(self._events))
        counts = np.diff(np.append(first, len(self._events)))
        track = self._events["track"].to_numpy()[first]
        return [counts[track == number].tolist() for number in range(len(self._tracks))]

    @cached_property
    def _outer(self) -> list[tuple[Int64, Int64]]:
        """Start and length of the events of each track that lie in no other."""
        outer = self._events[self._events["depth"] == 0]
        start, end = outer["start_ps"].to_numpy(), outer["end_ps"].to_numpy()
        bounds = np.searchsorted(outer["track"], np.arange(len(self._tracks) + 1))
        return [(start[first:last], (end - start)[first:last]) for first, last in pairwise(bounds.tolist())]

    @cached_property
    def _unit_ps(self) -> int:
        starts, ends = self._events["start_ps"].to_numpy(), self._events["end_ps"].to_numpy()
        return max(int(np.gcd(np.gcd.reduce(starts), np.gcd.reduce(ends))), 1) if len(starts) else 1

    @cached_property
    def _names(self) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.object_]]:
        """Distinct names, and the type that gives each its colour."""
        kinds = np.concatenate([np.where(f.names.op_type == "", f.host.names, f.names.op_type) for f in self._forests])
        first = pd.Series(self._shown_names).drop_duplicates()
        return first.to_numpy(dtype=object), kinds[first.index]

    @cached_property
    def _shown_names(self) -> npt.NDArray[np.object_]:
        """The name shown for each metadata entry of each host, hosts one after another."""
        return np.concatenate([forest.host.display_names for forest in self._forests])

    @cached_property
    def _name_codes(self) -> Int64:
        codes = pd.Index(self._names[0]).get_indexer(pd.Index(self._shown_names)).astype(np.int64)
        offsets = np.cumsum([0] + [len(forest.host.names) for forest in self._forests])
        names: Int64 = codes[self._events["metadata"].to_numpy() + offsets[self._events["host_index"].to_numpy()]]
        return names

    @cached_property
    def _groups(self) -> list[dict[str, str]]:
        groups = self._tracks.drop_duplicates("group").sort_values("group")
        several = len(self._forests) > 1
        return [
            {
                "label": f"{group['host']} {group['plane']}" if several else str(group["plane"]),
                "kind": "host" if group["kind"] == "thread" else "device",
            }
            for group in groups.to_dict("records")
        ]

    @property
    def _step_marks(self) -> list[dict[str, int]]:
        table = self._steps.table
        return [
            {"step": int(step), "start_ps": round(start * PS_PER_MS), "duration_ps": round(length * PS_PER_MS)}
            for step, start, length in zip(table.index, table["start_ms"], table["step_ms"], strict=True)
        ]


def trace(forests: Sequence[Forest], steps: Steps) -> Trace:
    """Lay the events of all hosts out on tracks."""
    return Trace(forests, steps)


def _all_events(forests: Sequence[Forest]) -> pd.DataFrame:
    frames = []
    for index, forest in enumerate(forests):
        host = forest.host
        rows = np.flatnonzero(~forest.name_starts(*_HIDDEN))
        start = host.start_ps[rows]
        frames.append(
            pd.DataFrame(
                {
                    "host_index": index,
                    "row": rows,
                    "line": host.line[rows],
                    "metadata": host.metadata[rows],
                    "start_ps": start,
                    "end_ps": start + host.duration_ps[rows],
                    "depth": lane_depths(host.line[rows].astype(np.int64), start, start + host.duration_ps[rows]),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def _tracks(forests: Sequence[Forest], events: pd.DataFrame) -> pd.DataFrame:
    """One row per line with events: devices before hosts, a program's own thread first, then the busiest."""
    outer = events[events["depth"] == 0]
    busy = (outer["end_ps"] - outer["start_ps"]).groupby([outer["host_index"], outer["line"]]).sum()
    span = max(int(events["end_ps"].max()) if len(events) else 0, 1)
    rows = []
    for host_index, line_index, busy_ps in busy.reset_index().to_numpy().tolist():
        forest = forests[host_index]
        line = forest.host.lines[line_index]
        device = bool(forest.line_is_device[line_index])
        kind = ("steps" if line.name == "Steps" else "stream") if device else "thread"
        rows.append(
            {
                "host": forest.host.name,
                "plane": forest.host.planes[line.plane].name,
                "kind": kind,
                "label": _ID_SUFFIX.sub("", line.name) or f"line {line.id}",
                "events": line.last - line.first,
                "busy_share": min(busy_ps / span, 1.0),
                "host_index": host_index,
                "line": line_index,
                "order": (not device, kind != "steps", not line.name.startswith("python"), -busy_ps),
            }
        )
    rows.sort(key=lambda row: (row["order"][0], row["host_index"], row["plane"], row["order"]))
    columns = ["host", "plane", "kind", "label", "events", "busy_share", "host_index", "line"]
    tracks = pd.DataFrame(rows, columns=columns)
    tracks["group"] = tracks.groupby(["host_index", "plane"], sort=False).ngroup()
    return tracks.assign(label=_told_apart(tracks))


def _told_apart(tracks: pd.DataFrame) -> pd.Series:
    """Number the tracks of one label in one group: thread ids mean nothing to a reader."""
    same = tracks.groupby(["group", "label"])["label"]
    number = (same.cumcount() + 1).astype(str)
    return tracks["label"].where(same.transform("size") == 1, tracks["label"] + " " + number)


def _in_display_order(events: pd.DataFrame, tracks: pd.DataFrame) -> pd.DataFrame:
    """Order events by track, depth and start; on their line they are in order of start already."""
    track_of = np.zeros((events["host_index"].max() + 1, events["line"].max() + 1) if len(events) else (1, 1), np.int64)
    track_of[tracks["host_index"], tracks["line"]] = np.arange(len(tracks))
    track = track_of[events["host_index"], events["line"]]
    lane = track * (events["depth"].to_numpy().max(initial=0) + 1) + events["depth"].to_numpy()
    # Of 16-bit integers numpy's stable sort is a radix sort.
    order = np.argsort(lane.astype(np.uint16) if lane.max(initial=0) < 1 << 16 else lane, kind="stable")
    return events.assign(track=track).take(order).reset_index(drop=True)


def _byte_planes(values: npt.NDArray[Any], width: int) -> bytes:
    """Lay numbers out by byte: first the lowest byte of each, then the next; like bytes compress well."""
    return values.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width].T.tobytes()


def _opens_lane(events: pd.DataFrame) -> Bools:
    """Events, in display order, that are the first of their track and depth."""
    opens = np.ones(len(events), dtype=bool)
    opens[1:] = (np.diff(events["track"]) != 0) | (np.diff(events["depth"]) != 0)
    return opens


def _merged(events: pd.DataFrame, bin_ps: float) -> pd.DataFrame:
    """Merge events shorter than a bin with their neighbours that start in the same bin of the same lane."""
    start, end = events["start_ps"].to_numpy(), events["end_ps"].to_numpy()
    length, bins = end - start, (start // bin_ps).astype(np.int64)
    alone = length >= bin_ps
    opens = _opens_lane(events) | (np.diff(bins, prepend=-1) != 0) | alone
    opens[1:] |= alone[:-1]
    # What merges stands side by side, so that reduceat does what a groupby would take ten times as long for.
    first, run = np.flatnonzero(opens), np.cumsum(opens) - 1
    is_longest = np.flatnonzero(length == np.maximum.reduceat(length, first)[run])
    longest = is_longest[np.diff(run[is_longest], prepend=-1) > 0]
    counts = np.diff(np.append(first, len(events)))
    return events.iloc[longest].assign(start_ps=start[first], end_ps=np.maximum.reduceat(end, first), events=counts)


def _notes(forests: Sequence[Forest], events: pd.DataFrame) -> list[str]:
    if not len(events):
        return ["This profile holds no events: nothing ran while it was captured."]
    hidden = sum(len(forest.host) for forest in forests) - len(events)
    return [f"{hidden:,} bookkeeping events (allocations, thread pool marks) are not drawn."] if hidden else []
