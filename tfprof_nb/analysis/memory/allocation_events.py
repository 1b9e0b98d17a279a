"""Allocations and deallocations of one host as a table, described by what was allocated."""

from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Int64, Ints, Objects
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.steps.activities import is_of_old_tensorflow
from tfprof_nb.decode.data_types import title
from tfprof_nb.formats.xspace import ALLOCATION, DEALLOCATION

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


def allocation_events(forest: Forest, step: Ints, name_host: bool) -> pd.DataFrame:
    """Return one row per `MemoryAllocation` and `MemoryDeallocation` of a host, in the order of its events.

    Parameters
    ----------
    step
        Per event of the host: its step, -1 for none.
    name_host
        Whether the allocator's name starts with the host's.
    """
    host = forest.host
    allocation = forest.named(ALLOCATION) & forest.on_host
    events = np.flatnonzero(allocation | (forest.named(DEALLOCATION) & forest.on_host))
    allocators = _allocator_names(forest, events)
    columns: dict[str, Any] = {"host_event": events, "time_ps": host.start_ps[events], "allocation": allocation[events]}
    columns |= {
        "step": step[events].astype(np.int64),
        "allocator": f"{host.name}/" + allocators if name_host else allocators,
    }
    columns |= {column: host.ints(stat).at(events, missing=0) for column, stat in _INT_STATS.items()}
    columns |= {column: forest.texts_at(stat, events) for column, stat in _TEXT_STATS.items()}
    columns["data_type"] = _data_types(host.ints("data_type").at(events, missing=0).astype(np.int64))
    columns["fragmentation"] = host.floats("fragmentation").at(events, missing=0.0)
    table = pd.DataFrame(columns)
    # TensorFlow's own tools stored the figure of the file's last event beside such captures.
    if len(table) and is_of_old_tensorflow(forest):
        table["lifetime_bytes"] = table.groupby("allocator")["lifetime_bytes"].transform("last")
    return table


def _allocator_names(forest: Forest, events: Int64) -> Objects:
    """Return each event's allocator, named by the device's number if it has no name (TPU)."""
    names = forest.texts_at("allocator_name", events)
    for stat in ("index_on_host", "device_ordinal"):
        number = forest.ints_at(stat, events)
        unnamed = (names == "") & (number >= 0)
        numbers, which = np.unique(number[unnamed], return_inverse=True)
        names[unnamed] = np.array([f"device {n}" for n in numbers.tolist()], dtype=object)[which]
    return names


def _data_types(numbers: Int64) -> Objects:
    distinct, which = np.unique(numbers, return_inverse=True)
    return np.array([title(number) for number in distinct.tolist()], dtype=object)[which]


def described(events: pd.DataFrame) -> pd.DataFrame:
    """Describe deallocations by their allocations: the last before them at the same address.

    Parameters
    ----------
    events
        As `allocation_events` returns them, in order of time; changed in place.

    Returns
    -------
    DataFrame
        The events, with ``in_use_bytes``.
    """
    allocator, address = pd.factorize(events["allocator"])[0], events["address"].to_numpy()
    order = np.lexsort((address, allocator))
    same_place = (np.diff(allocator[order]) == 0) & (np.diff(address[order]) == 0)
    allocation = events["allocation"].to_numpy()[order]
    ends = np.flatnonzero(same_place & allocation[:-1] & ~allocation[1:])
    allocated_by = np.arange(len(events))
    allocated_by[order[ends + 1]] = order[ends]
    for column in _FROM_ALLOCATION:
        events[column] = events[column].take(allocated_by).array
    for size in ("requested_bytes", "allocation_bytes"):  # deallocations on a TPU have no size of their own
        sizes = events[size].to_numpy()
        events[size] = np.where(sizes == 0, sizes[allocated_by], sizes)
    events["in_use_bytes"] = events["stack_bytes"] + events["heap_bytes"]
    return events
