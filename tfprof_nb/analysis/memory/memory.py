"""Memory of each allocator over time, and what was alive at its peak.

The source is the events `MemoryAllocation` and `MemoryDeallocation`, as in XProf's `xplane_to_memory_profile.cc`, but
times count from the start of the profile, and all that is alive at the peak is listed, whichever step allocated it. For
hosts without such events, the sampled memory of the process is used instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._units import PS_PER_MS
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.memory.allocation_events import allocation_events, described
from tfprof_nb.analysis.memory.process_memory import NOTE, process_allocators, process_timeline
from tfprof_nb.analysis.result import Result

BEFORE_CAPTURE = "allocated before the capture"
_CPU_ALLOCATOR, _MIN_RECORDED_BYTES = "mklcpu", 256 << 10
COLUMNS = [
    "allocator",
    "op_name",
    "allocation_bytes",
    "requested_bytes",
    "occurrences",
    "region_type",
    "data_type",
    "shape",
]
_DESCRIPTION = [column for column in COLUMNS if column != "occurrences"]
TIMELINE_COLUMNS = [
    "time_ms",
    "allocator",
    "stack_bytes",
    "heap_bytes",
    "free_bytes",
    "fragmentation",
    "event",
    "op_name",
    "requested_bytes",
    "allocation_bytes",
    "step",
    "region_type",
    "data_type",
    "shape",
    "memory_in_use_bytes",
]
ALLOCATOR_COLUMNS = [
    "allocations",
    "deallocations",
    "capacity_bytes",
    "peak_bytes",
    "peak_bytes_lifetime",
    "peak_time_ms",
    "stack_bytes",
    "heap_bytes",
    "free_bytes",
    "fragmentation",
]


@dataclass(eq=False, kw_only=True)
class Memory(Result):
    """What was alive at each allocator's peak; ``summary`` has an allocator's figures under its name.

    Attributes
    ----------
    timeline
        One row per allocation and deallocation, in order of time.
    allocators
        The summary as a frame, one row per allocator.

    Unknown values are null: for a process, everything but the memory in use.
    """

    timeline: pd.DataFrame
    allocators: pd.DataFrame


def memory(
    forests: Sequence[Forest], steps: Sequence[Int64] | None = None, process: pd.DataFrame | None = None
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
    steps = [np.full(len(forest.host), -1, dtype=np.int64) for forest in forests] if steps is None else steps
    several = len(forests) > 1
    by_host = [allocation_events(forest, step, several) for forest, step in zip(forests, steps, strict=True)]
    result = _recorded(pd.concat(by_host, ignore_index=True)) if any(map(len, by_host)) else no_memory()
    without = [forest.host.name for forest, events in zip(forests, by_host, strict=True) if events.empty]
    if process is None or not without:
        return result
    return _with_process(result, process[process["host"].isin(without)], several)


def _recorded(events: pd.DataFrame) -> Memory:
    events = described(events.sort_values("time_ps", kind="stable", ignore_index=True))
    peaks = _peaks(events)
    live, allocators = _live_at_peak(events, peaks), _allocators(events, peaks)
    notes = _notes(live, events)
    return Memory(live, _summary(allocators), notes, timeline=_timeline(events), allocators=allocators)


def _with_process(recorded: Memory, samples: pd.DataFrame, name_host: bool) -> Memory:
    """Add the processes that were sampled."""
    timeline = process_timeline(samples, name_host)
    if timeline.empty:
        return recorded
    # Empty frames would change the types of the columns.
    parts = [frame for frame in (recorded.timeline, timeline) if len(frame)]
    allocators = [frame for frame in (recorded.allocators, process_allocators(samples, name_host)) if len(frame)]
    everything = pd.concat(parts, ignore_index=True).reindex(columns=TIMELINE_COLUMNS)
    figures = pd.concat(allocators).reindex(columns=ALLOCATOR_COLUMNS)
    notes = [NOTE] if recorded.allocators.empty else [*recorded.notes, NOTE]
    return Memory(recorded.table, _summary(figures), notes, timeline=everything, allocators=figures)


def _summary(allocators: pd.DataFrame) -> dict[str, Any]:
    """Return each allocator's figures by its name."""
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
    by = ["allocation_bytes", "requested_bytes", "allocator", "op_name", "region_type", "data_type", "shape"]
    rows = rows.sort_values(by, ascending=[False, False, True, True, True, True, True], ignore_index=True)
    first = np.flatnonzero(~rows.duplicated())
    counted: pd.DataFrame = rows.iloc[first].assign(occurrences=np.diff(first, append=len(rows)))
    return counted.reset_index(drop=True)[COLUMNS]


def _special_row(allocator: object, name: str, region: str, size: int) -> dict[str, object]:
    described = {"op_name": name, "region_type": region, "data_type": "INVALID", "shape": "unknown"}
    return {"allocator": allocator, "allocation_bytes": size, "requested_bytes": size, **described}


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


def _notes(live: pd.DataFrame, events: pd.DataFrame) -> list[str]:
    notes = []
    if (live["op_name"] == BEFORE_CAPTURE).any():
        notes.append(f"Memory in use at a peak that no captured allocation explains is listed as '{BEFORE_CAPTURE}'.")
    on_cpu = events[events["allocator"].str.endswith(_CPU_ALLOCATOR)]
    if len(on_cpu) and on_cpu["allocation_bytes"].min() >= _MIN_RECORDED_BYTES:  # other versions record all
        notes.append(f"{_CPU_ALLOCATOR}, the CPU's allocator, does not record allocations below 256 KiB.")
    return notes


def no_memory() -> Memory:
    """Return the result for profiles without events of memory."""
    note = (
        "No memory events: nothing was allocated during the capture, host_level was below 2, or files of this kind "
        "have none (see the overview's notes)."
    )
    return Memory(
        pd.DataFrame(columns=COLUMNS),
        {},
        [note],
        timeline=pd.DataFrame(columns=TIMELINE_COLUMNS),
        allocators=pd.DataFrame(columns=ALLOCATOR_COLUMNS, index=pd.Index([], name="allocator")),
    )
