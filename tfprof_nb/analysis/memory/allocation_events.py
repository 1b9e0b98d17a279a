"""Allocations and deallocations of one host as rows, each described by what was allocated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64, Objects
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.steps.activities import is_of_old_tensorflow
from tfprof_nb.decode.data_types import title

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


def allocation_events(forest: Forest, step: Int64, name_host: bool) -> pd.DataFrame:
    """Return one row per `MemoryAllocation` and `MemoryDeallocation` of a host, in the order of its rows.

    Parameters
    ----------
    forest
        The host.
    step
        The step of every event, -1 where there is none.
    name_host
        Whether the allocator's name starts with the host's.
    """
    host = forest.host
    allocation = forest.named("MemoryAllocation") & forest.on_host
    rows = np.flatnonzero(allocation | (forest.named("MemoryDeallocation") & forest.on_host))
    allocators = _allocator_names(forest, rows)
    columns: dict[str, Any] = {"row": rows, "time_ps": host.start_ps[rows], "allocation": allocation[rows]}
    columns |= {"step": step[rows], "allocator": f"{host.name}/" + allocators if name_host else allocators}
    columns |= {column: host.ints(stat).at(rows, missing=0) for column, stat in _INT_STATS.items()}
    columns |= {column: _texts(forest, stat, rows) for column, stat in _TEXT_STATS.items()}
    columns["data_type"] = _data_types(host.ints("data_type").at(rows, missing=0).astype(np.int64))
    columns["fragmentation"] = host.floats("fragmentation").at(rows, missing=0.0)
    frame = pd.DataFrame(columns)
    # Stored with such captures is the figure of the file's last event.
    if len(frame) and is_of_old_tensorflow(forest):
        frame["lifetime_bytes"] = frame.groupby("allocator")["lifetime_bytes"].transform("last")
    return frame


def _allocator_names(forest: Forest, rows: Int64) -> Objects:
    """The allocator's name, or where there is none (TPU) the device's number."""
    names = _texts(forest, "allocator_name", rows)
    for stat in ("index_on_host", "device_ordinal"):
        number = forest.host.ints(stat).at(rows).astype(np.int64)
        unnamed = (names == "") & (number >= 0)
        numbers, which = np.unique(number[unnamed], return_inverse=True)
        names[unnamed] = np.array([f"device {n}" for n in numbers.tolist()], dtype=object)[which]
    return names


def _texts(forest: Forest, stat: str, rows: Int64) -> Objects:
    texts = forest.host.texts(stat)
    if texts.categories is None:
        return np.full(len(rows), "", dtype=object)
    return np.append(texts.categories, "")[texts.at(rows).astype(np.int64)]


def _data_types(numbers: Int64) -> Objects:
    distinct, which = np.unique(numbers, return_inverse=True)
    return np.array([title(number) for number in distinct.tolist()], dtype=object)[which]


def described(events: pd.DataFrame) -> pd.DataFrame:
    """Describe deallocations by the allocation that they end: the one before at the same address."""
    allocator, address = pd.factorize(events["allocator"])[0], events["address"].to_numpy()
    order = np.lexsort((address, allocator))
    same_place = (np.diff(allocator[order]) == 0) & (np.diff(address[order]) == 0)
    allocation = events["allocation"].to_numpy()[order]
    ends = np.flatnonzero(same_place & allocation[:-1] & ~allocation[1:])
    allocated_by = np.arange(len(events))
    allocated_by[order[ends + 1]] = order[ends]
    for column in _FROM_ALLOCATION:
        events[column] = events[column].take(allocated_by).array
    for size in ("requested_bytes", "allocation_bytes"):  # TPU deallocations do not tell their size
        told = events[size].to_numpy()
        events[size] = np.where(told == 0, told[allocated_by], told)
    events["in_use_bytes"] = events["stack_bytes"] + events["heap_bytes"]
    return events
