"""The cost of one call of a function: the memory that it adds, its peak, and each kernel that it ran.

The counterpart of ``tf.profile`` in TensorFlow.js. Tensors and the ops that Python ran come from the record of the call
(`capture.profile_call`); times, and what ran inside tf.functions, from the profile of the same call.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Floats, Int64
from tfprof_nb._units import PS_PER_MS, PS_PER_US
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.graph_nodes import graph_nodes
from tfprof_nb.analysis.events.names import Category, function_name
from tfprof_nb.analysis.events.tensors import parse_tensors
from tfprof_nb.analysis.memory.allocation_events import allocation_events
from tfprof_nb.analysis.result import Result
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.decode.sections.graphs import Graphs
from tfprof_nb.formats.marks import CALL

COLUMNS = ["name", "op_name", "function", "bytes_added", "total_bytes", "input_shapes", "output_shapes", "time_us"]
_IN_FUNCTIONS = (
    "Bytes of kernels inside a tf.function are those that the allocator recorded, and blank if it recorded none. On a "
    "CPU it records only allocations of 256 KiB and more, and only with oneDNN."
)
_ON_DEVICES = "Times are those on the host: a kernel that runs on a device can take longer there."


@dataclass(eq=False, kw_only=True)
class CallProfile(Result):
    """The result and the cost of one call; ``table`` has one row per kernel, in order of time.

    Attributes
    ----------
    result
        What the function returned.
    """

    result: Any

    @property
    def new_bytes(self) -> int:
        """Memory of the tensors and variables that the call made and that are still alive."""
        return int(self.summary["new_bytes"])

    @property
    def new_tensors(self) -> int:
        """The number of these tensors and variables."""
        return int(self.summary["new_tensors"])

    @property
    def peak_bytes(self) -> int:
        """The most memory at one time of the tensors that the call made."""
        return int(self.summary["peak_bytes"])


@dataclass(frozen=True, eq=False)
class RecordedCall:
    """The record of a call.

    Attributes
    ----------
    result
        What the function returned.
    changes
        Tensors created (``sign`` 1) and deleted (-1), in order: ``sign serial buffer bytes``. Tensors of one buffer
        share its memory.
    shared
        Serials of tensors that share memory which was there before the call.
    ops
        The ops that Python ran, in order: ``name input_shapes output_shapes made at``.
    """

    result: Any
    changes: pd.DataFrame
    shared: Collection[int]
    ops: pd.DataFrame


def call_profile(recorded: RecordedCall, forest: Forest, graphs: Graphs) -> CallProfile:
    """Combine the record of a call with its profile.

    Parameters
    ----------
    forest
        The profile's host; the call is the event named `CALL`.
    """
    changes, ops = recorded.changes, recorded.ops
    added = _added(changes.assign(bytes=changes["bytes"].where(~changes["serial"].isin(recorded.shared), 0)))
    total = np.concatenate([[0], np.cumsum(added)])
    call = np.flatnonzero(forest.named(CALL))[:1]
    group = group_events(forest).group
    caused = np.isin(group, group[call])
    eager = _eager(ops, changes, added, total).join(_executions(forest, ops["name"], call))
    allocated = _levels(_allocated(forest, caused), eager)
    inside = _inside_functions(forest, np.flatnonzero(caused), eager, allocated, graphs)
    table = pd.concat([eager, inside]).sort_values("start_ps", kind="stable") if len(inside) else eager
    summary = {
        "new_bytes": int(total[-1]),
        "new_tensors": int(changes["sign"].sum()),
        "peak_bytes": int(max(total.max(), allocated["level"].max() if len(allocated) else 0)),
        "time_ms": float(forest.host.duration_ps[call].sum()) / PS_PER_MS,
    }
    return CallProfile(table[COLUMNS].reset_index(drop=True), summary, _notes(forest, inside), result=recorded.result)


def _eager(ops: pd.DataFrame, changes: pd.DataFrame, added: Int64, total: Int64) -> pd.DataFrame:
    """Return the ops that Python ran, with the bytes that each added, and the total then.

    ``added`` has one entry per change, ``total`` one more: the bytes before the first change.
    """
    of_serial = pd.Series(added, index=changes["serial"])[changes["sign"].to_numpy() > 0]
    return ops.assign(
        name=ops["name"].map(function_name),
        op_name="",
        function="",
        bytes_added=ops["made"].explode().map(of_serial).groupby(level=0).sum().astype(np.int64),
        total_bytes=total[ops["at"].to_numpy(np.int64)],
    )


def _added(changes: pd.DataFrame) -> Int64:
    """Return the bytes that each change adds: a buffer counts while any tensor uses it."""
    users = changes.groupby(["buffer", "bytes"])["sign"].cumsum()
    first, last = (changes["sign"] > 0) & (users == 1), (changes["sign"] < 0) & (users == 0)
    return (changes["bytes"] * (first.astype(np.int64) - last.astype(np.int64))).to_numpy(np.int64)


def _executions(forest: Forest, names: pd.Series[str], call: Int64) -> pd.DataFrame:
    """Return when each op that Python ran was executed: the n-th of a name is its n-th execution on the call's thread.

    Returns
    -------
    DataFrame
        ``start_ps end_ps is_function time_us``, one row per op; null if the profile has no such execution.
    """
    host = forest.host
    executions = np.flatnonzero(forest.named("EagerExecute"))
    executions = executions[forest.nearest_ancestor(executions, call) >= 0]
    executed = pd.DataFrame(
        {
            "name": forest.texts_at("eager_op", executions),
            "start_ps": host.start_ps[executions],
            "end_ps": forest.ends_ps(executions),
            "is_function": host.ints("is_func").at(executions, missing=0) == 1,
            "time_us": _run_ps(forest, executions) / PS_PER_US,
        }
    )
    executed["n"] = executed.groupby("name").cumcount()
    wanted = pd.DataFrame({"name": names, "n": names.groupby(names).cumcount()})
    return wanted.merge(executed, on=["name", "n"], how="left").drop(columns=["name", "n"]).set_axis(names.index)


def _run_ps(forest: Forest, executions: Int64) -> Floats:
    """Return how long the kernel itself ran in each execution, without its preparation if that is recorded apart."""
    runs = np.flatnonzero(forest.named("KernelAndDeviceFunc::Run"))
    within = forest.nearest_ancestor(runs, executions)
    time = np.zeros(len(executions))
    np.add.at(time, within[within >= 0], forest.host.duration_ps[runs[within >= 0]])
    return np.where(time > 0, time, forest.host.duration_ps[executions])


def _inside_functions(
    forest: Forest, caused: Int64, eager: pd.DataFrame, allocated: pd.DataFrame, graphs: Graphs
) -> pd.DataFrame:
    """Return the kernels that the call's tf.functions ran, with bytes of the allocator and shapes of their graphs."""
    host, names = forest.host, forest.names
    functions = eager[eager["is_function"].eq(True)]
    is_op = (names.category == Category.TENSORFLOW) & (names.op_type != "")
    ops = caused[is_op[host.metadata[caused]] & forest.on_host[caused]]
    ops = ops[np.argsort(host.start_ps[ops], kind="stable")]
    of = _position(functions, host.start_ps[ops])
    ops, of = ops[of >= 0], of[of >= 0]
    by = forest.nearest_ancestor(allocated["host_event"].to_numpy(), ops)
    mine = allocated.assign(kernel=by)[by >= 0]
    kernels = pd.DataFrame(
        {
            "name": names.op_type[host.metadata[ops]],
            "op_name": names.op_name[host.metadata[ops]],
            "function": functions["name"].to_numpy()[of],
            "start_ps": host.start_ps[ops],
            "time_us": host.duration_ps[ops] / PS_PER_US,
        }
    )
    sizes = mine.groupby("kernel").agg(bytes_added=("signed_bytes", "sum"), total_bytes=("level", "last"))
    return kernels.join(sizes).join(_shapes(kernels["name"], forest.once(graph_nodes, graphs)[ops], graphs))


def _shapes(kernels: pd.Series[str], node: Int64, graphs: Graphs) -> pd.DataFrame:
    """Return ``input_shapes output_shapes`` of kernels by their nodes; those of a fused kernel's inputs are unknown."""
    nodes = graphs.nodes.reindex(node).set_axis(kernels.index)
    fused = np.array([not name.endswith(str(op)) for name, op in zip(kernels, nodes["op"], strict=True)], dtype=bool)
    return pd.DataFrame(
        {
            "input_shapes": nodes["takes"].mask(fused).map(_shapes_of, na_action="ignore"),
            "output_shapes": nodes["outputs"].map(_shapes_of, na_action="ignore"),
        }
    )


def _allocated(forest: Forest, caused: Bools) -> pd.DataFrame:
    """Return the call's allocation events, in order of time; ``signed_bytes`` are negative for deallocations.

    ``caused`` says per event of the host whether the call caused it.
    """
    events = allocation_events(forest, np.zeros(len(forest.host), dtype=np.int64), name_host=False)
    events = events[caused[events["host_event"]]].sort_values("time_ps", kind="stable", ignore_index=True)
    requested = events["requested_bytes"]
    return events.assign(signed_bytes=requested.where(events["allocation"], -requested))


def _levels(allocated: pd.DataFrame, eager: pd.DataFrame) -> pd.DataFrame:
    """Add ``level``, the bytes in use after each event: those alive before its op, and the changes since."""
    timed = eager[eager["start_ps"].notna()]
    of = _position(timed, allocated["time_ps"].to_numpy(np.int64))
    allocated, of = allocated[of >= 0], of[of >= 0]
    before = (timed["total_bytes"] - timed["bytes_added"]).to_numpy(np.int64)[of]
    return allocated.assign(level=before + allocated["signed_bytes"].groupby(of).cumsum())


def _position(executions: pd.DataFrame, time_ps: Int64) -> Int64:
    """Return for each time the execution, in order of time, in which it lies; -1 for none."""
    at = np.searchsorted(executions["start_ps"].to_numpy(np.float64), time_ps, side="right") - 1
    ends = np.append(executions["end_ps"].to_numpy(np.float64), -1)
    return np.where(time_ps <= ends[at], at, -1)


def _shapes_of(tensors: str) -> list[list[int | None] | None]:
    """``float32[32,?];int64[...]`` is ``[[32, None], None]``."""
    return [None if tensor.shape is None else list(tensor.shape) for tensor in parse_tensors(tensors)]


def _notes(forest: Forest, inside: pd.DataFrame) -> list[str]:
    notes = [_IN_FUNCTIONS] if len(inside) else []
    return [*notes, _ON_DEVICES] if forest.on_device.any() else notes
