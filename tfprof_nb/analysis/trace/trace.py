"""Every event on its track: the data of the trace viewer, at any zoom.

docs/trace-format.md describes the form in which the browser gets it.
"""

import zlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Floats, Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.analysis.steps.steps import Steps
from tfprof_nb.analysis.trace.counters import Counter
from tfprof_nb.analysis.trace.event_names import EventNames
from tfprof_nb.analysis.trace.flows import Flows
from tfprof_nb.analysis.trace.layout import COLUMNS, ON_HOST, Layout, lay_out
from tfprof_nb.analysis.trace.slices import MAX_UNITS, Slices, encode, events_within, merge, slices_of
from tfprof_nb.analysis.trace.totals import totals

PALETTE_SIZE = 21
# Of more events, the browser gets a coarse level first, and finer tiles as it asks for them.
WHOLE_EVENTS = 2_000_000
COARSE_BINS = 32_768
# An event shows at most so many causes, and so many effects.
_MAX_FLOWS = 50
_ROUNDED_PS = 1000  # times of findings are milliseconds, as floats
_BOOKKEEPING = "events, such as allocations, are"
_TRACK_FIELDS = ["group", "label", "kind", "busy_share", "idle"]


class Trace(Result):
    """The events of all hosts, laid out on tracks; ``table`` has one row per track.

    A timeline asks for header, payload, tiles and so on (`render.panels.TimelineSource`); `query` and `totals` are for
    everyone else.
    """

    def __init__(
        self,
        forests: Sequence[Forest],
        groupings: Sequence[Grouping],
        steps: Steps,
        counters: Callable[[], Sequence[Counter]],
        line_of: Callable[[str], str],
    ) -> None:
        self._forests, self._steps = forests, steps
        self._counters, self._line_of = counters, line_of
        self._layout = layout = lay_out(forests, groupings)
        summary = {"events": len(layout), "rows": len(layout.tracks), "span_ms": self.span_ps / PS_PER_MS}
        super().__init__(layout.tracks[COLUMNS], summary, _notes(forests, layout))

    @property
    def span_ps(self) -> int:
        """Time from the start of the profile to the end of its last event."""
        return int(self._layout.end_ps.max(initial=0))

    @property
    def is_whole(self) -> bool:
        """Whether all events are sent at once."""
        return len(self._layout) <= WHOLE_EVENTS

    def header(self) -> dict[str, Any]:
        """Return everything but the events, ready for JSON."""
        return self._header(None) if self.is_whole else self._header(self._coarse, self._bin_ps(COARSE_BINS))

    def payload(self) -> bytes:
        """Return all events as compressed columns; if there are very many, a coarse level."""
        slices = self._all if self.is_whole else self._coarse
        return encode(slices, self._unit_ps, merged=not self.is_whole)

    def level(self, bins: int) -> tuple[dict[str, Any], bytes]:
        """Return header and payload, in which events shorter than a ``bins``-th of the profile are merged.

        Names that no slice uses are empty, so that few bins make a small header too.
        """
        bin_ps = self._bin_ps(bins)
        slices = merge(self._all, bin_ps)
        header, drawn = self._header(slices, bin_ps), np.zeros(len(self._layout.names), dtype=bool)
        drawn[slices.name] = True
        header["labels"] = {code: label for code, label in header["labels"].items() if drawn[int(code)]}
        header["names"] = np.where(drawn, self._layout.names, "").tolist()
        return header, encode(slices, self._unit_ps, merged=True, level=6)

    def tile(self, start_ps: int, end_ps: int, bins: int) -> tuple[dict[str, Any], bytes]:
        """Return a stretch of time, in which events shorter than a ``bins``-th of it are merged.

        Returns
        -------
        dict, bytes
            ``start_ps end_ps lanes events``, where ``lanes`` is the number of slices in each lane; and the payload.
        """
        slices = merge(self._within(start_ps, end_ps), max((end_ps - start_ps) / bins, 1))
        lanes = np.diff(slices.bounds).tolist()
        head = {"start_ps": start_ps, "end_ps": end_ps, "lanes": lanes, "events": len(slices)}
        return head, encode(slices, self._unit_ps, merged=True)

    def overview(self, bins: int) -> tuple[Floats, list[str]]:
        """Return how busy (0 to 1) each track is in each of ``bins`` equal parts of the profile, and the labels.

        Labels that several tracks share say of which device or host they are.
        """
        layout, edges = self._layout, np.linspace(0, max(self.span_ps, 1), bins + 1)
        busy = np.zeros((len(layout.tracks), bins))
        for lane in np.flatnonzero(layout.lane_depth == 0).tolist():
            outer = slice(layout.bounds[lane], layout.bounds[lane + 1])
            start, length = layout.start_ps[outer], layout.end_ps[outer] - layout.start_ps[outer]
            before = np.cumsum(length) - length
            at = np.searchsorted(start, edges, side="right")
            last = np.maximum(at - 1, 0)
            covered = before[last] + np.clip(edges - start[last], 0, length[last])
            busy[layout.lane_track[lane]] = np.diff(np.where(at > 0, covered, 0)) / np.diff(edges)
        return np.clip(busy, 0, 1), _told_apart(layout.tracks)

    def details(self, event: int) -> dict[str, Any]:
        """Return name, place, time and all stats of one event, given by its number."""
        layout = self._layout
        host_event, recorded = int(layout.host_event[event]), bool(layout.recorded[event])
        host = self._forests[int(layout.host_index[event])].host
        line = host.lines[int(host.line[host_event])]
        own = host.stats_of(host_event) if recorded else {}
        name = str(layout.names[layout.name[event]])
        return {
            "name": str(host.names[host.metadata[host_event]]) if recorded else name,
            "host": host.name,
            "plane": host.planes[line.plane].name,
            "line": line.name if recorded else f"made of {line.name}",
            "start_ps": int(layout.start_ps[event]),
            "duration_ps": int(layout.end_ps[event] - layout.start_ps[event]),
            **own,
        }

    def source_line(self, event: int) -> str:
        """Return place and text of the line of code that an event comes from, empty if that is unknown."""
        return self._line_of(str(self._layout.names[self._layout.name[event]]))

    def event_name(self, op: str) -> str:
        """Return the name of an op's events in this trace."""
        return self._event_names.of_op(op)

    def event_of(self, op: str, start_ps: int, end_ps: int) -> dict[str, Any] | None:
        """Return where the first event of an op between two times is drawn; None if there is none.

        It starts between them, or else runs already.
        """
        if not (codes := self._event_names.codes_of(op)):
            return None
        found = self.find(codes, -1, start_ps - _ROUNDED_PS, 1)
        if found and found["start_ps"] <= end_ps + _ROUNDED_PS:
            return found
        before = self.find(codes, -1, start_ps, -1)
        return before if before and before["start_ps"] + before["duration_ps"] > start_ps else None

    def flows(self, event: int) -> list[dict[str, Any]]:
        """Return what caused an event (``direction`` is ``from``) and what it caused (``to``), on all tracks.

        Returns
        -------
        list of dict
            ``direction kind event track lane start_ps duration_ps name``; ``name`` is an index into the header's.
        """
        index, host_event = int(self._layout.host_index[event]), int(self._layout.host_event[event])
        links, position = self._flows[index], self._position[index]
        if position[host_event] != event:  # derived
            return []
        flows = []
        for direction, others in (("from", links.causes(host_event)), ("to", links.effects(host_event))):
            for other in others[position[others] >= 0][:_MAX_FLOWS].tolist():
                kind = links.kind(host_event if direction == "from" else other)
                flows.append({"direction": direction, "kind": kind, **self.place(int(position[other]))})
        return flows

    def find(self, names: Sequence[int], after: int, start_ps: int, direction: int) -> dict[str, Any] | None:
        """Return the next event in time whose name is one of the header's ``names``, None if there is none.

        Parameters
        ----------
        names
            Indices into the header's names.
        after, start_ps
            The event from which to search; if it is -1, the time.
        direction
            1 for later events, -1 for earlier ones.
        """
        layout = self._layout
        if after >= 0:
            start_ps = int(layout.start_ps[after])  # the browser's time is rounded down to a whole unit
        wanted = np.zeros(len(layout.names), dtype=bool)
        wanted[list(names)] = True
        events = np.flatnonzero(wanted[layout.name])
        start = layout.start_ps[events]
        later = (start > start_ps) | ((start == start_ps) & (events > after))
        events = events[later] if direction > 0 else events[~later & (events != after)]
        if not len(events):
            return None
        order = np.lexsort((events, layout.start_ps[events]))
        return self.place(int(events[order[0 if direction > 0 else -1]]))

    def query(self, start_ps: int, end_ps: int, max_slices: int) -> pd.DataFrame:
        """Return what runs between two times, in at most ``max_slices`` rows.

        If there are more events, short neighbours of one lane are merged: ``events`` is the number of events that a row
        stands for, ``name`` the name of the longest.

        Returns
        -------
        DataFrame
            ``track depth name start_ps end_ps events``, ordered by track, depth and start.
        """
        if max_slices < 1:
            raise ValueError(f"max_slices must be at least 1, not {max_slices}.")
        shown, layout = self._within(start_ps, end_ps), self._layout
        if len(shown) > max_slices:
            lanes = int((np.diff(shown.bounds) > 0).sum())
            shown = merge(shown, max((end_ps - start_ps) * 2 * lanes / max_slices, 1))
        # If even these are too many, keep those that stand for the most events, then the longest.
        order = np.lexsort((shown.start_ps - shown.end_ps, -shown.events))
        kept, lane = np.sort(order[:max_slices]), shown.lane
        columns = {
            "track": layout.lane_track[lane],
            "depth": layout.lane_depth[lane],
            "name": layout.names[shown.name],
            "start_ps": shown.start_ps,
            "end_ps": shown.end_ps,
            "events": shown.events,
        }
        return pd.DataFrame(columns).iloc[kept].reset_index(drop=True)

    def totals(self, start_ps: int, end_ps: int, tracks: Sequence[int] | None = None) -> pd.DataFrame:
        """Return what ran between two times, by name; time outside of the two does not count.

        Parameters
        ----------
        start_ps, end_ps
            The stretch of time.
        tracks
            Positions in ``table``; None for all tracks.

        Returns
        -------
        DataFrame
            ``name count total_ms self_ms avg_ms``, the longest self time first. Self time excludes events inside.
        """
        return totals(self._layout, self._within(start_ps, end_ps), start_ps, end_ps, tracks)

    def _header(self, slices: Slices | None, bin_ps: float = 0) -> dict[str, Any]:
        layout = self._layout
        bounds = layout.bounds if slices is None else slices.bounds
        counts = np.split(np.diff(bounds), np.flatnonzero(layout.lane_depth == 0)[1:])
        merged = (
            {} if slices is None else {"name_events": np.bincount(layout.name, minlength=len(layout.names)).tolist()}
        )
        return {
            "version": 1,
            "unit_ps": self._unit_ps,
            "span_ps": self.span_ps,
            "events": int(bounds[-1]),
            "captured": len(layout),
            "merged": slices is not None,
            "bin_ps": bin_ps,
            "names": list(layout.names),
            "labels": {
                str(code): str(layout.labels[code]) for code in np.flatnonzero(layout.labels != layout.names).tolist()
            },
            "colors": [zlib.crc32(str(kind).encode()) % PALETTE_SIZE for kind in layout.kinds],
            "groups": self._groups,
            "tracks": [
                {**track, "depths": depths.tolist()}
                for track, depths in zip(layout.tracks[_TRACK_FIELDS].to_dict("records"), counts, strict=False)
            ],
            "steps": self._step_marks,
            "counters": [counter.drawn() for counter in self._counters() if counter.is_known],
            **merged,
        }

    def _within(self, start_ps: int, end_ps: int) -> Slices:
        layout = self._layout
        events, bounds = events_within(layout.bounds, layout.start_ps, layout.end_ps, start_ps, end_ps)
        return slices_of(bounds, layout.start_ps, layout.end_ps, layout.name, events)

    @property
    def _all(self) -> Slices:
        return slices_of(self._layout.bounds, self._layout.start_ps, self._layout.end_ps, self._layout.name)

    @cached_property
    def _coarse(self) -> Slices:
        return merge(self._all, self._bin_ps(COARSE_BINS))

    def _bin_ps(self, bins: int) -> float:
        return max(self.span_ps / bins, 1.0)

    @cached_property
    def _unit_ps(self) -> int:
        shared = int(np.gcd(np.gcd.reduce(self._layout.start_ps), np.gcd.reduce(self._layout.end_ps)))
        return max(shared, self.span_ps // MAX_UNITS + 1)

    @cached_property
    def _event_names(self) -> EventNames:
        return EventNames(self._forests, self._layout)

    @cached_property
    def _flows(self) -> list[Flows]:
        return [Flows(forest) for forest in self._forests]

    @cached_property
    def _position(self) -> list[Int64]:
        """For each host, per event: its number in the trace, -1 if it is not drawn."""
        layout = self._layout
        positions = []
        for index, forest in enumerate(self._forests):
            mine = np.flatnonzero((layout.host_index == index) & layout.recorded)
            position = np.full(len(forest.host), -1, dtype=np.int64)
            position[layout.host_event[mine]] = mine
            positions.append(position)
        return positions

    def place(self, event: int) -> dict[str, Any]:
        """Return where an event is drawn: ``event track lane start_ps duration_ps name``."""
        layout = self._layout
        lane = int(np.searchsorted(layout.bounds, event, side="right")) - 1
        return {
            "event": event,
            "track": int(layout.lane_track[lane]),
            "lane": lane,
            "start_ps": int(layout.start_ps[event]),
            "duration_ps": int(layout.end_ps[event] - layout.start_ps[event]),
            "name": int(layout.name[event]),
        }

    @cached_property
    def _groups(self) -> list[dict[str, str]]:
        tracks = self._layout.tracks
        several = len(self._forests) > 1
        # The first track of a section decides whether it is a host's: devices have no threads.
        return [
            {
                "label": f"{group['host']} {group['plane']}" if several else str(group["plane"]),
                "kind": "host" if group["kind"] in ON_HOST else "device",
            }
            for group in tracks.drop_duplicates("group").to_dict("records")
        ]

    @property
    def _step_marks(self) -> list[dict[str, int]]:
        table = self._steps.table
        marks = [
            {"step": int(step), "start_ps": round(start * PS_PER_MS), "duration_ps": round(length * PS_PER_MS)}
            for step, start, length in zip(table.index, table["start_ms"], table["step_ms"], strict=True)
        ]
        for at in np.flatnonzero(table["warm_up"].to_numpy(bool)):
            marks[at]["warm_up"] = 1
        return marks


def trace(
    forests: Sequence[Forest],
    groupings: Sequence[Grouping],
    steps: Steps,
    counters: Callable[[], Sequence[Counter]] = tuple,
    line_of: Callable[[str], str] = lambda _name: "",
) -> Trace:
    """Lay the events of all hosts out on tracks.

    Parameters
    ----------
    steps
        Marked above the tracks.
    counters
        Returns what is drawn as lines above the tracks; called when the trace is shown.
    line_of
        Returns the line of code that an event of a name comes from, or nothing; called when an event is selected.
    """
    return Trace(forests, groupings, steps, counters, line_of)


def _notes(forests: Sequence[Forest], layout: Layout) -> list[str]:
    if not len(layout):
        return ["This profile has no events: nothing ran during the capture."]
    events = sum(int((~forest.are_counters).sum()) + forest.host.marks for forest in forests)
    hidden = events - int(layout.recorded.sum())
    if not hidden:
        return []
    events_are = "event, such as an allocation, is" if hidden == 1 else _BOOKKEEPING
    return [f"{hidden:,} bookkeeping {events_are} not drawn."]


def _told_apart(tracks: pd.DataFrame) -> list[str]:
    """Return labels; those that several tracks share begin with the device, and of several hosts with the host."""
    device = tracks["plane"].astype(str).str.extract(r"/device:(.+)", expand=False).fillna("")
    where = device if tracks["host"].nunique() < 2 else tracks["host"].astype(str) + " " + device
    labels = tracks["label"].astype(str)
    return labels.where(~labels.duplicated(keep=False), (where + " " + labels).str.strip()).tolist()
