"""Memory of each allocator over time, and what was alive at its peak.

The source is the events `MemoryAllocation` and `MemoryDeallocation`, as in XProf's `xplane_to_memory_profile.cc`, but
times count from the start of the profile, and all that is alive at the peak is listed, whichever step allocated it. For
hosts without such events, the sampled memory of the process is used instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64, Ints
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import framework, of_sessions
from tfprof_nb.analysis.memory.allocation_events import allocation_events, described
from tfprof_nb.analysis.memory.process_memory import NOTE, process_allocators, process_timeline
from tfprof_nb.analysis.result import Result, empty_table

BEFORE_CAPTURE = "allocated before the capture"
_CPU_ALLOCATOR, _MIN_RECORDED_BYTES = "mklcpu", 256 << 10
_DESCRIBED = dict.fromkeys(("region_type", "data_type", "shape"), "str")
_TYPES = {
    **dict.fromkeys(("allocator", "op_name"), "str"),
    **dict.fromkeys(("allocation_bytes", "requested_bytes", "occurrences"), np.int64),
    **_DESCRIBED,
}
_TIMELINE_TYPES = {
    "time_ms": np.float64,
    "allocator": "str",
    **dict.fromkeys(("stack_bytes", "heap_bytes", "free_bytes"), np.int64),
    "fragmentation": np.float64,
    **dict.fromkeys(("event", "op_name"), "str"),
    **dict.fromkeys(("requested_bytes", "allocation_bytes", "step"), np.int64),
    **_DESCRIBED,
    "memory_in_use_bytes": np.int64,
}
_ALLOCATOR_TYPES = {
    **dict.fromkeys(("allocations", "deallocations"), np.int64),
    "capacity_bytes": "Int64",
    **dict.fromkeys(("peak_bytes", "peak_bytes_lifetime"), np.int64),
    "peak_time_ms": np.float64,
    **dict.fromkeys(("stack_bytes", "heap_bytes"), np.int64),
    "free_bytes": "Int64",
    "fragmentation": np.float64,
}
COLUMNS, TIMELINE_COLUMNS, ALLOCATOR_COLUMNS = list(_TYPES), list(_TIMELINE_TYPES), list(_ALLOCATOR_TYPES)
_DESCRIPTION = [column for column in COLUMNS if column != "occurrences"]


@dataclass(eq=False, kw_only=True)
class Memory(Result):
    """What was alive at each allocator's peak; ``summary`` has an allocator's figures under its name.

    Attributes
    ----------
    allocators
        The summary as a frame, one row per allocator.
    in_use
        Per allocator that recorded its events: their times (ps), and the bytes in use after each.

    Unknown values are null: for a process, everything but the memory in use.
    """

    allocators: pd.DataFrame
    _ready: pd.DataFrame | None = field(default=None, repr=False)
    # Or, of many hosts, per host with events of memory: the names of its allocators, and what reads its timeline.
    in_use: dict[str, tuple[Int64, Int64]] = field(default_factory=dict, repr=False)
    _timelines: Sequence[tuple[list[str], Callable[[], pd.DataFrame]]] = field(default_factory=list, repr=False)
    _processes: pd.DataFrame | None = field(default=None, repr=False)

    @cached_property
    def timeline(self) -> pd.DataFrame:
        """One row per allocation and deallocation, in order of time."""
        return self._joined([read() for _, read in self._timelines])

    def timeline_of(self, allocator: str) -> pd.DataFrame:
        """Return the rows of the timeline of one allocator, without those of other hosts being read."""
        rows = self._joined([read() for names, read in self._timelines if allocator in names])
        return rows[rows["allocator"] == allocator]

    def _joined(self, hosts: Sequence[pd.DataFrame]) -> pd.DataFrame:
        read = _timeline_of_all(hosts) if hosts else None
        # Empty frames would change the types of the columns.
        parts = [frame for frame in (self._ready, read, self._processes) if frame is not None and len(frame)]
        if not parts:
            return empty_table(_TIMELINE_TYPES)
        return pd.concat(parts, ignore_index=True).reindex(columns=TIMELINE_COLUMNS)


def memory(
    forests: Sequence[Forest], steps: Sequence[Ints] | None = None, process: pd.DataFrame | None = None
) -> Memory:
    """Follow every allocator of all hosts.

    The peak is that of the capture; of equal peaks it is the last. Heap in use at the peak that no captured allocation
    explains was allocated before the capture (mostly the model's weights); it is one row of the table.

    Parameters
    ----------
    forests
        One per host. With several hosts, an allocator's name starts with its host's.
    steps
        For each host the step of every event, -1 for none; unknown by default.
    process
        The memory of each host's process, as `metrics.sampled` returns it; used if a host has no allocations.
    """
    steps = [_no_steps(forest) for forest in forests] if steps is None else steps
    several = len(forests) > 1
    found = [forest.once(host_memory, several) for forest in forests]
    hosts = [(forest, step, own) for forest, step, own in zip(forests, steps, found, strict=True) if own]
    result = _recorded(hosts, several) if hosts else no_memory(_why(forests))
    without = [forest.host.name for forest, own in zip(forests, found, strict=True) if not own]
    if process is None or not without:
        return result
    return _with_process(result, process[process["host"].isin(without)], several)


@dataclass(frozen=True, eq=False)
class HostMemory:
    """What one host's allocators held: its part of `Memory`, and what notes are about."""

    live: pd.DataFrame
    allocators: pd.DataFrame
    in_use: dict[str, tuple[Int64, Int64]]
    least_on_cpu: float


def host_memory(forest: Forest, name_host: bool) -> HostMemory | None:
    """Follow the allocators of one host; None if it recorded no event of memory."""
    events = host_timeline(forest, _no_steps(forest), name_host)
    if events.empty:
        return None
    peaks = _peaks(events)
    on_cpu = events.loc[events["allocator"].str.endswith(_CPU_ALLOCATOR), "allocation_bytes"]
    in_use = {
        str(name): (own["time_ps"].to_numpy(np.int64), own["in_use_bytes"].to_numpy(np.int64))
        for name, own in events.groupby("allocator", sort=False)
    }
    return HostMemory(_live_at_peak(events, peaks), _allocators(events, peaks), in_use, float(on_cpu.min()))


def _no_steps(forest: Forest) -> Int64:
    """Return -1 for each event, in no memory."""
    return np.broadcast_to(np.int64(-1), len(forest.host))


def host_timeline(forest: Forest, step: Ints, name_host: bool) -> pd.DataFrame:
    """Return one host's events of memory in order of time, described; arguments as of `allocation_events`."""
    events = allocation_events(forest, step, name_host)
    return described(events.sort_values("time_ps", kind="stable", ignore_index=True))


def _recorded(hosts: Sequence[tuple[Forest, Ints, HostMemory]], name_host: bool) -> Memory:
    live = _in_order(pd.concat([found.live for *_, found in hosts], ignore_index=True))
    allocators = pd.concat([found.allocators for *_, found in hosts]).sort_index(kind="stable")
    timelines = [
        (list(found.allocators.index), partial(forest.anew, host_timeline, step, name_host))
        for forest, step, found in hosts
    ]
    ready = None
    if all(isinstance(forest, Forest) for forest, *_ in hosts):  # whose events are in memory anyway
        ready, timelines = _timeline_of_all([read() for _, read in timelines]), []
    notes = _notes(live, min((found.least_on_cpu for *_, found in hosts if found.least_on_cpu >= 0), default=0.0))
    in_use = {name: times for *_, found in hosts for name, times in found.in_use.items()}
    return Memory(
        live, _summary(allocators), notes, allocators=allocators, in_use=in_use, _ready=ready, _timelines=timelines
    )


def _with_process(recorded: Memory, samples: pd.DataFrame, name_host: bool) -> Memory:
    """Add the processes that were sampled."""
    timeline = process_timeline(samples, name_host)
    if timeline.empty:
        return recorded
    allocators = [frame for frame in (recorded.allocators, process_allocators(samples, name_host)) if len(frame)]
    figures = pd.concat(allocators).reindex(columns=ALLOCATOR_COLUMNS)
    notes = [NOTE] if recorded.allocators.empty else [*recorded.notes, NOTE]
    return replace(recorded, summary=_summary(figures), notes=notes, allocators=figures, _processes=timeline)


def _summary(allocators: pd.DataFrame) -> dict[str, Any]:
    known = allocators.astype(object).where(allocators.notna(), None)
    figures = (dict(zip(known.columns, row, strict=True)) for row in known.to_numpy().tolist())
    return dict(zip(known.index.astype(str), figures, strict=True))


def _peaks(events: pd.DataFrame) -> pd.DataFrame:
    """Return the event at which each allocator had most in use (``at``), by allocator; of equal ones the last."""
    order = np.lexsort((events["in_use_bytes"], pd.factorize(events["allocator"], sort=True)[0]))
    at_peak = events.iloc[order].drop_duplicates("allocator", keep="last")
    return at_peak.assign(at=at_peak.index).set_index("allocator")


def _live_at_peak(events: pd.DataFrame, peaks: pd.DataFrame) -> pd.DataFrame:
    until_peak = np.flatnonzero(np.arange(len(events)) <= events["allocator"].map(peaks["at"]).to_numpy())
    place = events[["allocator", "address"]].iloc[until_peak]
    last = until_peak[~place.duplicated(keep="last").to_numpy()]
    live = events[_DESCRIPTION].iloc[last[events["allocation"].to_numpy()[last]]]
    explained = live.groupby("allocator")["allocation_bytes"].sum().reindex(peaks.index, fill_value=0)
    others = [
        _special_row(allocator, name, region, size)
        for name, region, sizes in (
            (BEFORE_CAPTURE, "persist/dynamic", peaks["heap_bytes"] - explained),
            ("stack", "stack", peaks["stack_bytes"]),
        )
        for allocator, size in sizes.items()
        if size > 0
    ]
    rows = pd.concat([live, pd.DataFrame(others)]) if others else live
    rows = _in_order(rows)
    first = np.flatnonzero(~rows.duplicated())
    counted: pd.DataFrame = rows.iloc[first].assign(occurrences=np.diff(first, append=len(rows)))
    return counted.reset_index(drop=True)[COLUMNS]


def _in_order(rows: pd.DataFrame) -> pd.DataFrame:
    by = ["allocation_bytes", "requested_bytes", "allocator", "op_name", "region_type", "data_type", "shape"]
    return rows.sort_values(by, ascending=[False, False, True, True, True, True, True], ignore_index=True)


def _special_row(allocator: object, name: str, region: str, size: int) -> dict[str, object]:
    described = {"op_name": name, "region_type": region, "data_type": "INVALID", "shape": "unknown"}
    return {"allocator": allocator, "allocation_bytes": size, "requested_bytes": size, **described}


def _timeline_of_all(hosts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    events = pd.concat(hosts, ignore_index=True)
    return _timeline(events.sort_values("time_ps", kind="stable", ignore_index=True))


def _timeline(events: pd.DataFrame) -> pd.DataFrame:
    sign = np.where(events["allocation"], 1, -1)
    return events.assign(
        time_ms=events["time_ps"] / PS_PER_MS,
        event=np.where(events["allocation"], "allocation", "deallocation"),
        requested_bytes=sign * events["requested_bytes"],
        allocation_bytes=sign * events["allocation_bytes"],
        memory_in_use_bytes=events["in_use_bytes"],
    )[TIMELINE_COLUMNS]


def _allocators(events: pd.DataFrame, peaks: pd.DataFrame) -> pd.DataFrame:
    by_allocator = events.groupby("allocator")
    allocations = by_allocator["allocation"].sum()
    in_use = peaks["in_use_bytes"]
    # An allocator that never has free memory takes it from the system as it needs it: nothing limits it.
    limited = by_allocator["free_bytes"].max() > 0
    allocators = peaks.assign(
        allocations=allocations,
        deallocations=by_allocator.size() - allocations,
        capacity_bytes=(in_use + peaks["free_bytes"]).astype("Int64").where(limited),
        free_bytes=peaks["free_bytes"].astype("Int64").where(limited),
        fragmentation=peaks["fragmentation"].where(limited),
        peak_bytes=in_use,
        # A TPU's own figure excludes the stack.
        peak_bytes_lifetime=np.maximum(by_allocator["lifetime_bytes"].max(), in_use),
        peak_time_ms=peaks["time_ps"] / PS_PER_MS,
    )
    return allocators[ALLOCATOR_COLUMNS]


def _notes(live: pd.DataFrame, least_on_cpu: float) -> list[str]:
    notes = []
    if (live["op_name"] == BEFORE_CAPTURE).any():
        notes.append(f"Memory in use at a peak that no captured allocation explains is listed as '{BEFORE_CAPTURE}'.")
    if least_on_cpu >= _MIN_RECORDED_BYTES:  # other versions record all
        notes.append(f"{_CPU_ALLOCATOR}, the CPU's allocator, does not record allocations below 256 KiB.")
    return notes


_NO_EVENTS = (
    "No memory events: nothing was allocated during the capture, host_level was below 2, or the file is a Chrome trace "
    "of TensorFlow 2, which leaves them out."
)
_OF_SESSIONS = (
    "This record of session.run has no allocations. A timeline has them if it is written with show_memory=True."
)
_NOT_READ = "This page shows allocations that TensorFlow and JAX record: those of PyTorch's traces are not read."


def _why(forests: Sequence[Forest]) -> str:
    """Say why there are no events of memory."""
    if forests and forests[0].once(framework) == "pytorch":
        return _NOT_READ
    return _OF_SESSIONS if of_sessions(forests) else _NO_EVENTS


def no_memory(note: str = _NO_EVENTS) -> Memory:
    """Return the result for profiles without events of memory."""
    return Memory(
        empty_table(_TYPES),
        {},
        [note],
        allocators=empty_table(_ALLOCATOR_TYPES).set_index(pd.Index([], dtype="str", name="allocator")),
    )
