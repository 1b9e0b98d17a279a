"""What each event of a step is doing: the classes that share out a step's time."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Bools, Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.formats.marks import CALLBACK, CELL_LINE


class Activity(IntEnum):
    """Classes of work; where several go on at once, the largest value has the time (`event_span.h`)."""

    NONE = 0
    HOST_COMPUTE = 10
    COMPILE = 60
    HOST_TO_HOST = 70
    HOST_TO_DEVICE = 80
    KERNEL_LAUNCH = 90
    DEVICE_COLLECTIVES = 100
    WAIT_INPUT = 110
    DEVICE_TO_DEVICE = 120
    DEVICE_TO_HOST = 130
    DEVICE_COMPUTE_32 = 140
    DEVICE_COMPUTE_16 = 150


# Frames around ops, which are neither compute nor waiting: the runtime's own, ours around lines and callbacks, and the
# calls that TensorFlow's Python tracer records (`$module.py:12 f`).
_WRAPPERS = ("EagerExecute", "EagerLocalExecute", "EagerKernelExecute", "FunctionRun", CELL_LINE, CALLBACK, "$")
# CUPTI and ROCm write MemcpyH2D, TensorFlow's host events MEMCPYHToD.
_COPIES = {
    Activity.HOST_TO_DEVICE: ("MemcpyH2D", "MEMCPYHToD"),
    Activity.DEVICE_TO_HOST: ("MemcpyD2H", "MEMCPYDToH"),
    Activity.DEVICE_TO_DEVICE: ("MemcpyD2D", "MEMCPYDToD", "MemcpyP2P", "MEMCPYPToP"),
}
_HALF_NAMES = ("half", "fp16", "bf16", "bfloat16")


def classify(forest: Forest, group: Int64) -> npt.NDArray[np.int16]:
    """Return the `Activity` of every event that belongs to a group, `Activity.NONE` for all others."""
    activity = np.zeros(len(group), dtype=np.int16)
    grouped = group >= 0
    host, device = grouped & forest.on_host, grouped & forest.on_device
    if host.any():
        activity[host] = _host_activity(forest)[host]
    if device.any():
        device &= _launched(forest)
        activity[device] = _device_activity(forest)[device]
    return activity


def _launched(forest: Forest) -> Bools:
    launched: Bools = forest.host.ints("correlation_id").dense(len(forest.host)).astype(np.int64) >= 0
    return launched


def _host_activity(forest: Forest) -> npt.NDArray[np.int16]:
    activity = _activity_of_names(forest)[forest.host.metadata]
    activity[_waiting_stages(forest)] = Activity.WAIT_INPUT
    if forest.on_device.any():
        weaker = (activity == Activity.HOST_COMPUTE) | (activity == Activity.WAIT_INPUT)
        activity[_launched(forest) & weaker] = Activity.KERNEL_LAUNCH
    return activity


def _waiting_stages(forest: Forest) -> Int64:
    """The outermost stages of PyGrain's input pipelines, but for those that work ahead for one on another thread."""
    host = forest.host
    stages = host.texts("_ipl_stage_name").rows
    if not len(stages):
        return stages
    outermost = forest.outermost(stages)
    made = pd.MultiIndex.from_arrays([host.ints(stat).at(stages) for stat in ("_pt", "_p")])
    taken = pd.MultiIndex.from_arrays([host.ints(stat).at(outermost) for stat in ("_ct", "_c")])
    ahead = taken.isin(made) & np.isin(outermost, host.ints("_ct").rows)
    alone: Int64 = outermost[~ahead]
    return alone


def _activity_of_names(forest: Forest) -> npt.NDArray[np.int16]:
    """What each name of the host's events stands for."""
    activity = np.full(len(forest.host.names), Activity.HOST_COMPUTE, dtype=np.int16)
    activity[forest.names_starting("IteratorGetNext")] = Activity.WAIT_INPUT
    if forest.on_device.any():
        activity[forest.names_starting("ExecutorState::Process")] = Activity.KERNEL_LAUNCH
    activity[forest.names_starting("MEMCPYHToH")] = Activity.HOST_TO_HOST
    activity[forest.names_starting("MEMCPYHToD") | forest.names_with(":InfeedEnqueue")] = Activity.HOST_TO_DEVICE
    activity[forest.names_starting(*_WRAPPERS) | forest.names_as_marks] = Activity.NONE
    return activity


def _device_activity(forest: Forest) -> npt.NDArray[np.int16]:
    activity = np.full(len(forest.host), Activity.DEVICE_COMPUTE_32, dtype=np.int16)
    activity[_sixteen_bit(forest)] = Activity.DEVICE_COMPUTE_16
    activity[forest.name_starts("nccl")] = Activity.DEVICE_COLLECTIVES
    if is_of_old_tensorflow(forest):
        return activity
    for copy, names in _COPIES.items():
        activity[forest.name_starts(*names)] = copy
    return activity


def is_of_old_tensorflow(forest: Forest) -> bool:
    """Whether the capture is one of TensorFlow up to 2.10, whose own tools stored their answers beside it.

    Ours agree with them, also where they mean something else today: copies on a device were compute. Those versions
    stored the groups of events with these, and the older of them name a kernel's op in ``level 0``.
    """
    grouped = forest.host.ints("group_id").rows
    return bool(forest.on_device[grouped].any()) or len(forest.host.texts("level 0").rows) > 0


def _sixteen_bit(forest: Forest) -> Bools:
    """16-bit kernels: by their tensors' types where the file has them, else by the kernel's name."""
    sixteen = forest.names_with(*_HALF_NAMES)[forest.host.metadata]
    shapes = forest.host.texts("shape")
    if shapes.categories is not None and len(shapes.rows):
        half = [any(mark in text.lower() for mark in _HALF_NAMES) for text in shapes.categories]
        sixteen[shapes.rows] = np.array(half, dtype=bool)[shapes.values.astype(np.int64)]
    return sixteen


def tracing_spans(forest: Forest) -> tuple[Int64, Int64, Int64]:
    """Return calls that traced or compiled a `tf.function`: their rows, and when tracing began and ended (ps).

    The call's event covers tracing and the run that follows; tracing ends where the function starts to run.
    """
    calls = forest.host.texts("tf_function_call")
    modes = calls.categories if calls.categories is not None else np.zeros(0, dtype=object)
    traced_mode = np.array([str(mode).startswith("traced") for mode in modes], dtype=bool)
    rows = calls.rows[traced_mode[calls.values.astype(np.int64)]] if len(calls.rows) else calls.rows
    start = forest.host.start_ps[rows]
    end = start + forest.host.duration_ps[rows]
    executables = forest.names_with("Executable::Execute")[forest.host.metadata]
    runs = np.flatnonzero(forest.named("FunctionRun") | executables)
    caller = forest.nearest_ancestor(runs, rows)
    runs, caller = runs[caller >= 0], caller[caller >= 0]
    began = np.full(len(rows), -1, dtype=np.int64)
    np.maximum.at(began, caller, forest.host.start_ps[runs])
    return rows, start, np.where(began >= 0, began, end)
