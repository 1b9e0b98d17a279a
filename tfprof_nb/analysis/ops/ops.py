"""Time by op: every op of the hosts and devices, how often it ran and for how long.

Host ops are summed over threads, device ops over streams and devices, so a side's time can exceed the capture's.
The rules are those of XProf's `xplane_to_op_metrics_db.cc`, except that allocations never count as occurrences of an
op, that eager ops count even if TensorFlow recorded only their dispatch, and that device work of no op is kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Int64
from tfprof_nb._units import PS_PER_US
from tfprof_nb.analysis.events.eager import ran_eagerly
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import framework
from tfprof_nb.analysis.events.intervals import newly_covered
from tfprof_nb.analysis.events.names import parse_names
from tfprof_nb.analysis.events.op_labels import label_all_ops, on_device_timeline, on_instruction_line
from tfprof_nb.analysis.ops.flops import float_ops_of_events
from tfprof_nb.analysis.ops.roofline import bound_by, ridge
from tfprof_nb.analysis.result import Result, empty_table
from tfprof_nb.analysis.steps.groups import Grouping
from tfprof_nb.analysis.steps.steps import host_steps
from tfprof_nb.analysis.steps.unrecorded import Factors, factors
from tfprof_nb.decode.sections.graphs import Graphs, read_graphs

SIDES = ("device", "host")
COLUMNS = [
    "side",
    "op_type",
    "op_name",
    "occurrences",
    "total_us",
    "self_us",
    "avg_us",
    "avg_self_us",
    "self_share",
    "cumulative_share",
    "eager",
    "flops",
    "gflops_per_s",
    "bound_by",
]
_KEYS = ["side", "op_type", "op_name"]
_NO_OPS = {
    "device": "No device ops: this profile has no work of a GPU or TPU.",
    "host": "No host ops: no op was recorded on a thread (host_level must be 2 or more).",
}
_NO_HOST_OPS_OF_JAX = "No host ops: JAX compiles its ops into programs, which ran on the devices alone."


class Ops(Result):
    """Time by op; `table` has the device's ops first, each side by self time.

    Shares are of the side's self time. ``eager`` is true if an op ran outside a compiled function at least once.
    ``flops`` are the floating-point operations of all its runs: as the file counts them, else as TensorFlow counts them
    for the op's node and its shapes; missing if neither is known. A fused op has those of all nodes that it computes,
    as far as they are known. ``gflops_per_s`` is over self time. ``bound_by`` is ``compute`` or ``memory``, by the
    device's roofline, if the file has an op's operations and bytes (for XLA's ops) and the device's peaks.
    """

    def with_idle(self) -> pd.DataFrame:
        """Return the table with a row ``IDLE`` per side, and shares of the side's time including idle time."""
        idle = {side: self.summary[f"{side}_idle_us"] for side in SIDES}
        rows = [_idle_row(side, idle_us) for side, idle_us in idle.items() if idle_us > 0]
        table = pd.concat([self.table, pd.DataFrame(rows, columns=COLUMNS)]) if rows else self.table.copy()
        return _ranked(table.astype(self.table.dtypes))


def ops(forests: Sequence[Forest], graphs: Sequence[Graphs] = (), groupings: Sequence[Grouping | None] = ()) -> Ops:
    """Sum the time of all hosts by op.

    Self time excludes the ops that ran inside an op on the same thread. An op that launches several kernels occurs as
    often as its most frequent kernel. Idle time is the time between the first and the last op of a thread or device in
    which no op ran, busy time the rest of it: a device whose streams overlap is busy once. (XProf adds up the streams.)
    Between runs that stand one after another on a timeline, nothing is idle. Where ops of some steps were not recorded,
    those of other steps of their phase stand for them.

    Parameters
    ----------
    graphs
        Per host the functions that ran, if they are known.
    groupings
        Per host the group of each event, if it is known.

    Returns
    -------
    Ops
        Its summary has, for each side, ``_self_us``, ``_busy_us``, ``_idle_us``, ``_total_us`` (self and idle),
        ``_occurrences`` and ``_eager_share`` (of self time, 0 to 1; None without ops).
    """
    known = graphs or [read_graphs(None)] * len(forests)
    parts = [
        part
        for forest, own, grouping in zip(forests, known, groupings or [None] * len(forests), strict=True)
        for part in forest.once(ops_by_side, own, grouping)
    ]
    table = _ranked(_finished(pd.concat([part.ops for part in parts], ignore_index=True) if parts else _no_rows()))
    return Ops(table, _summary(table, parts), _missing(table, forests))


def _missing(table: pd.DataFrame, forests: Sequence[Forest]) -> list[str]:
    ran = set(table["side"])
    texts = _NO_OPS | ({"host": _NO_HOST_OPS_OF_JAX} if forests and forests[0].once(framework) == "jax" and ran else {})
    return [texts[side] for side in SIDES if side not in ran]


@dataclass(frozen=True, eq=False)
class _Part:
    """One side of one host: its ops, with the columns of `_sums`, and how long its timelines were busy and idle."""

    side: str
    ops: pd.DataFrame
    busy_ps: int
    idle_ps: int


def ops_by_side(forest: Forest, graphs: Graphs, grouping: Grouping | None) -> list[_Part]:
    """Sum the time of one host by op, on each side that it has."""
    labels = forest.once(label_all_ops)
    on_device, on_host = np.flatnonzero(on_device_timeline(forest)), np.flatnonzero(forest.on_host & (labels.code >= 0))
    parts = [_device_part(forest, on_device, graphs)] if len(on_device) else []
    stands_for = factors(forest, forest.once(host_steps, grouping).table, on_host) if grouping else None
    return [*parts, _host_part(forest, on_host, graphs, stands_for)]


def _host_part(forest: Forest, events: Int64, graphs: Graphs, stands_for: Factors | None) -> _Part:
    """Sum host ops, given by their events."""
    labels = forest.once(label_all_ops)
    # Nested among themselves, so that an op's self time holds the runtime's frames inside it.
    self_ps = forest.self_ps_among(events)
    code, by_op = _sums(forest, events, labels.code[events].astype(np.int64), self_ps, graphs, stands_for)
    by_op["bound_by"] = None  # a profile does not record the peaks of a CPU
    named = by_op.assign(side="host", op_name=labels.op_name[code], op_type=labels.op_type[code])
    return _Part("host", named, *_busy_and_idle_ps(forest, events, forest.host.line[events]))


def _device_part(forest: Forest, events: Int64, graphs: Graphs) -> _Part:
    """Sum device ops by kernel, then by op; an event of no op is an op of its own, with the event's name."""
    host, labels = forest.host, forest.once(label_all_ops)
    # The kernels of a stream follow one another; only the instructions of a TPU's line nest.
    self_ps = np.where(on_instruction_line(forest)[events], forest.nesting.self_ps[events], host.duration_ps[events])
    kernel, kernel_names = pd.factorize(host.names)
    kernel = kernel[host.metadata[events]]
    code = np.where(labels.code[events] >= 0, labels.code[events], len(labels.op_name) + kernel)
    pair, by_kernel = _sums(forest, events, code * len(kernel_names) + kernel, self_ps, graphs)
    by_code = by_kernel.groupby(pair // len(kernel_names))
    by_op = by_code.sum().assign(**by_code[["occurrences", "graph_flops"]].max())
    by_op["bound_by"] = bound_by(by_op["flops"], by_op["bytes"], ridge(forest))
    types = np.concatenate([labels.op_type, parse_names(kernel_names).op_type])
    names = np.concatenate([labels.op_name, kernel_names])
    named = by_op.assign(side="device", op_name=names[by_op.index], op_type=types[by_op.index])
    return _Part("device", named, *_busy_and_idle_ps(forest, events, forest.planes_of(events)))


def _sums(
    forest: Forest, events: Int64, key: Int64, self_ps: Int64, graphs: Graphs, stands_for: Factors | None = None
) -> tuple[Int64, pd.DataFrame]:
    """Add up the events of each key; return the distinct keys, and a table with one row for each.

    ``key`` and ``self_ps`` have one entry per event in ``events``.
    """
    which, keys = pd.factorize(key)
    columns = _measured(forest, events, self_ps, graphs)
    if stands_for:
        sums = {name: _added_up_for_all(name, which, values, len(keys), stands_for) for name, values in columns}
    else:
        sums = {name: _added_up(which, values, len(keys)) for name, values in columns}
    return keys, pd.DataFrame(sums)


def _measured(
    forest: Forest, events: Int64, self_ps: Int64, graphs: Graphs
) -> Iterator[tuple[str, npt.NDArray[np.generic]]]:
    """Yield what is added up, column by column: all of them would take much memory."""
    yield "occurrences", np.broadcast_to(np.int64(1), len(events))
    yield "total_ps", forest.host.duration_ps[events]
    yield "self_ps", self_ps
    yield "eager", forest.once(ran_eagerly)[events].astype(np.int32)
    yield "flops", forest.host.floats("flops").at(events, missing=0.0)
    yield "bytes", forest.host.floats("bytes_accessed").at(events, missing=0.0)
    yield "graph_flops", float_ops_of_events(forest, graphs, events)


def _added_up_for_all(
    name: str, which: Int64, values: npt.NDArray[Any], count: int, stands_for: Factors
) -> npt.NDArray[Any]:
    """Return the sum of each group, with the events that were not recorded."""
    factor = stands_for.time if name.endswith("_ps") else stands_for.number
    sums = np.bincount(which, values * factor, count)
    return sums if values.dtype.kind == "f" else np.rint(sums).astype(values.dtype)


def _added_up(which: npt.NDArray[np.integer], values: npt.NDArray[np.generic], count: int) -> npt.NDArray[np.generic]:
    """Return the sum of each group; unlike `numpy.bincount`, it keeps whole numbers."""
    sums = np.zeros(count, dtype=values.dtype)
    np.add.at(sums, which, values)
    return sums


def _busy_and_idle_ps(forest: Forest, events: Int64, timeline: npt.NDArray[np.integer]) -> tuple[int, int]:
    """Divide the time from the first to the last op of each timeline: some op ran, or none; in total.

    ``timeline`` (a thread or a device) has one entry per event in ``events``.
    """
    start, end = forest.host.start_ps[events], forest.ends_ps(events)
    runs = forest.host.run_starts_ps
    run = np.searchsorted(np.array(runs, dtype=np.int64), start, side="right")
    which, timelines = pd.factorize(timeline.astype(np.int64) * (len(runs) + 1) + run)
    first = np.full(len(timelines), np.iinfo(np.int64).max)
    np.minimum.at(first, which, start)
    extent = np.zeros(len(timelines), dtype=np.int64)
    np.maximum.at(extent, which, end - first[which])
    # Laid end to end, so that one sweep serves all timelines.
    shift = (np.cumsum(extent) - extent - first)[which]
    order = np.argsort(start + shift, kind="stable")
    busy = int(newly_covered((start + shift)[order], (end + shift)[order]).sum())
    return busy, int(extent.sum()) - busy


def _finished(parts: pd.DataFrame) -> pd.DataFrame:
    """Merge hosts, and compute the columns that people read."""
    by_key = parts.groupby(_KEYS, as_index=False, sort=False)
    sums = by_key.sum(numeric_only=True)
    table = sums.assign(total_us=sums["total_ps"] / PS_PER_US, self_us=sums["self_ps"] / PS_PER_US)
    table["eager"] = table["eager"] > 0
    # Most files count no operations at all: they are unknown, not zero.
    flops = table["flops"].where(table["flops"] > 0, table["graph_flops"])
    table["flops"] = flops.where(flops > 0)
    table["gflops_per_s"] = table["flops"] / (sums["self_ps"].where(sums["self_ps"] > 0) / 1e3)
    table["bound_by"] = by_key["bound_by"].first()["bound_by"].astype(object)
    table["avg_us"] = table["total_us"] / table["occurrences"]
    table["avg_self_us"] = table["self_us"] / table["occurrences"]
    return table


def _ranked(table: pd.DataFrame) -> pd.DataFrame:
    table = table.sort_values(["side", "self_us", "op_name"], ascending=[True, False, True], ignore_index=True)
    self_us = table["self_us"].groupby(table["side"])
    whole = self_us.transform("sum")
    table["self_share"] = (table["self_us"] / whole).fillna(0.0)
    table["cumulative_share"] = (self_us.cumsum() / whole).fillna(0.0)
    return table[COLUMNS]


def _summary(table: pd.DataFrame, parts: Sequence[_Part]) -> dict[str, float | int | None]:
    summary: dict[str, float | int | None] = {}
    for side in SIDES:
        rows = table[(table["side"] == side).to_numpy()]
        self_us = float(rows["self_us"].sum())
        eager_us = float(rows["self_us"].to_numpy()[rows["eager"].to_numpy(bool)].sum())
        busy_us = sum(part.busy_ps for part in parts if part.side == side) / PS_PER_US
        idle_us = sum(part.idle_ps for part in parts if part.side == side) / PS_PER_US
        summary |= {
            f"{side}_self_us": self_us,
            f"{side}_busy_us": busy_us,
            f"{side}_idle_us": idle_us,
            f"{side}_total_us": self_us + idle_us,
            f"{side}_occurrences": int(rows["occurrences"].sum()),
            f"{side}_eager_share": eager_us / self_us if self_us else None,
        }
    return summary


def _idle_row(side: str, idle_us: float) -> dict[str, object]:
    times = dict.fromkeys(("total_us", "self_us", "avg_us", "avg_self_us"), idle_us)
    return {
        "side": side,
        "op_type": "IDLE",
        "op_name": "IDLE",
        "occurrences": 1,
        "eager": False,
        "bound_by": None,
        **times,
    }


def _no_rows() -> pd.DataFrame:
    columns = {"occurrences": int, "total_ps": int, "self_ps": int, "eager": int, "flops": float}
    columns |= {"bytes": float, "graph_flops": float, "bound_by": object}
    return empty_table(dict.fromkeys(_KEYS, object) | columns)
