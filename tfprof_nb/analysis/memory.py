"""Memory of each allocator over time, and what was alive when most of it was in use.

From the events `MemoryAllocation` and `MemoryDeallocation`, as in XProf's `xplane_to_memory_profile.cc`, but times
count from the start of the profile, and all that is alive at the peak is listed, whichever step allocated it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb.analysis.forest import Forest
from tfprof_nb.analysis.result import Result
from tfprof_nb.decode.host import Int64

PS_PER_MS = 1e9
BEFORE_CAPTURE = "allocated before the capture"
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
_INT_STATS = {
    "stack_bytes": "bytes_reserved",
    "heap_bytes": "bytes_allocated",
    "free_bytes": "bytes_available",
    "lifetime_bytes": "peak_bytes_in_use",
    "requested_bytes": "requested_bytes",
    "allocation_bytes": "allocation_bytes",
    "address": "addr",
}
_TEXT_STATS = {"op_name": "tf_op", "region_type": "region_type", "shape": "shape"}
_FROM_ALLOCATION = ["op_name", "region_type", "data_type", "shape"]

# The names of TensorFlow's DataType numbers (`types.proto`); a reference type is 100 more.
_DATA_TYPES = {
    0: "INVALID",
    1: "float",
    2: "double",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    11: "qint8",
    12: "quint8",
    13: "qint32",
    14: "bfloat16",
    15: "qint16",
    16: "quint16",
    17: "uint16",
    18: "complex128",
    19: "half",
    20: "resource",
    21: "variant",
    22: "uint32",
    23: "uint64",
    24: "float8_e5m2",
    25: "float8_e4m3fn",
    29: "int4",
    30: "uint4",
}


@dataclass(eq=False)
class Memory(Result):
    """What was alive at each allocator's peak; ``summary`` holds an allocator's figures under its name.

    Attributes
    ----------
    timeline
        One row per allocation and deallocation, in order of time.
    allocators
        The summary as a frame, one row per allocator.
    """

    timeline: pd.DataFrame = field(default_factory=pd.DataFrame)
    allocators: pd.DataFrame = field(default_factory=pd.DataFrame)


def memory(forests: Sequence[Forest], steps: Sequence[Int64] | None = None) -> Memory:
    """Follow every allocator of all hosts.

    The peak is that of the captured window; of equal ones the last. Heap in use at the peak that no captured allocation
    explains was allocated before the capture (a model's weights, mostly), and stands in the table as one row.

    Parameters
    ----------
    forests
        One per host. With several, an allocator's name starts with its host's.
    steps
        For each host the step of every event, -1 where there is none; all unknown by default.
    """
    steps = [np.full(len(forest.host), -1, dtype=np.int64) for forest in forests] if steps is None else steps
    found = [_events(forest, step, len(forests) > 1) for forest, step in zip(forests, steps, strict=True)]
    events = pd.concat(found, ignore_index=True) if found else pd.DataFrame()
    if events.empty:
        return _empty()
    events = _described(events.sort_values("time_ps", kind="stable", ignore_index=True))
    peaks = _peaks(events)
    live, allocators = _live_at_peak(events, peaks), _allocators(events, peaks)
    summary = {str(allocator): figures for allocator, figures in allocators.to_dict("index").items()}
    return Memory(live, summary, _notes(live), timeline=_timeline(events), allocators=allocators)


def _events(forest: Forest, step: Int64, name_host: bool) -> pd.DataFrame:
    host = forest.host
    allocation = forest.named("MemoryAllocation") & forest.on_host
    rows = np.flatnonzero(allocation | (forest.named("MemoryDeallocation") & forest.on_host))
    frame = pd.DataFrame({"time_ps": host.start_ps[rows], "allocation": allocation[rows], "step": step[rows]})
    frame["allocator"] = _allocator_names(forest, rows)
    if name_host:
        frame["allocator"] = f"{host.name}/" + frame["allocator"]
    for column, stat in _INT_STATS.items():
        frame[column] = host.ints(stat).at(rows, missing=0)
    for column, stat in _TEXT_STATS.items():
        frame[column] = _texts(forest, stat, rows)
    frame["data_type"] = _data_types(host.ints("data_type").at(rows, missing=0).astype(np.int64))
    frame["fragmentation"] = host.floats("fragmentation").at(rows, missing=0.0)
    return frame


def _allocator_names(forest: Forest, rows: Int64) -> npt.NDArray[np.object_]:
    """The allocator's name, or where there is none (TPU) the device's number."""
    names = _texts(forest, "allocator_name", rows)
    for stat in ("index_on_host", "device_ordinal"):
        number = forest.host.ints(stat).at(rows).astype(np.int64)
        unnamed = (names == "") & (number >= 0)
        names[unnamed] = [f"device {n}" for n in number[unnamed].tolist()]
    return names


def _texts(forest: Forest, stat: str, rows: Int64) -> npt.NDArray[np.object_]:
    texts = forest.host.texts(stat)
    if texts.categories is None:
        return np.full(len(rows), "", dtype=object)
    return np.append(texts.categories, "")[texts.at(rows).astype(np.int64)]


def _data_types(numbers: Int64) -> npt.NDArray[np.object_]:
    distinct, which = np.unique(numbers, return_inverse=True)
    names = [_DATA_TYPES.get(n % 100, str(n)) + ("_ref" if n > 100 else "") for n in distinct.tolist()]
    return np.array(names, dtype=object)[which]


def _described(events: pd.DataFrame) -> pd.DataFrame:
    """Describe deallocations by the allocation that they end: the one before at the same address."""
    order = events.sort_values(["allocator", "address"], kind="stable").index
    placed = events.loc[order]
    same_place = (placed["allocator"] == placed["allocator"].shift()) & (placed["address"] == placed["address"].shift())
    ends = ~placed["allocation"] & same_place & placed["allocation"].shift(fill_value=False)
    freed, freed_by = placed.index[ends.shift(-1, fill_value=False)], placed.index[ends]
    events.loc[freed_by, _FROM_ALLOCATION] = events.loc[freed, _FROM_ALLOCATION].to_numpy()
    for size in ("requested_bytes", "allocation_bytes"):  # TPU deallocations do not tell their size
        unknown = events.loc[freed_by, size].to_numpy() == 0
        events.loc[freed_by[unknown], size] = events.loc[freed[unknown], size].to_numpy()
    events["in_use_bytes"] = events["stack_bytes"] + events["heap_bytes"]
    return events


def _peaks(events: pd.DataFrame) -> pd.DataFrame:
    """The event at which each allocator had most in use, indexed by allocator."""
    highest = events.groupby("allocator")["in_use_bytes"].transform("max")
    at_peak = events[events["in_use_bytes"] == highest].drop_duplicates("allocator", keep="last")
    return at_peak.assign(row=at_peak.index).set_index("allocator").sort_index()


def _live_at_peak(events: pd.DataFrame, peaks: pd.DataFrame) -> pd.DataFrame:
    until_peak = events[events.index <= events["allocator"].map(peaks["row"])]
    last = until_peak.drop_duplicates(["allocator", "address"], keep="last")
    live = last[last["allocation"]]
    explained = live.groupby("allocator")["allocation_bytes"].sum().reindex(peaks.index, fill_value=0)
    rows = pd.concat(
        [
            live[[column for column in COLUMNS if column != "occurrences"]],
            _special_rows(BEFORE_CAPTURE, "persist/dynamic", peaks["heap_bytes"] - explained),
            _special_rows("stack", "stack", peaks["stack_bytes"]),
        ]
    )
    sums = rows.groupby([column for column in COLUMNS if column != "occurrences"], as_index=False).size()
    sums = sums.rename(columns={"size": "occurrences"})
    by = ["allocation_bytes", "requested_bytes", "allocator", "op_name", "region_type", "data_type", "shape"]
    return sums.sort_values(by, ascending=[False, False, True, True, True, True, True], ignore_index=True)[COLUMNS]


def _special_rows(name: str, region: str, size: pd.Series[int]) -> pd.DataFrame:
    size = size[size > 0]
    described = {"op_name": name, "region_type": region, "data_type": "INVALID", "shape": "unknown"}
    return pd.DataFrame({"allocator": size.index, "allocation_bytes": size.to_numpy(), **described}).assign(
        requested_bytes=size.to_numpy()
    )


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
    # A TPU's own figure leaves out the stack.
    lifetime = by_allocator["lifetime_bytes"].max().combine(peaks["in_use_bytes"], max)
    return peaks.assign(
        allocations=allocations,
        deallocations=by_allocator.size() - allocations,
        capacity_bytes=peaks["in_use_bytes"] + peaks["free_bytes"],
        peak_bytes=peaks["in_use_bytes"],
        peak_bytes_lifetime=lifetime,
        peak_time_ms=peaks["time_ps"] / PS_PER_MS,
    )[ALLOCATOR_COLUMNS]


def _notes(live: pd.DataFrame) -> list[str]:
    if (live["op_name"] == BEFORE_CAPTURE).any():
        return [f"Memory in use at a peak that no captured allocation explains is listed as '{BEFORE_CAPTURE}'."]
    return []


def _empty() -> Memory:
    note = "No memory events: nothing was allocated while the profile was captured, or host_level was below 2."
    return Memory(
        pd.DataFrame(columns=COLUMNS),
        {},
        [note],
        timeline=pd.DataFrame(columns=TIMELINE_COLUMNS),
        allocators=pd.DataFrame(columns=ALLOCATOR_COLUMNS, index=pd.Index([], name="allocator")),
    )
