"""The activity of each event of a step: the classes among which a step's time is divided."""

from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pandas as pd

from tfprof_nb._arrays import Bools, Int32, Int64
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.framework import framework
from tfprof_nb.decode.session_runs import RUNS
from tfprof_nb.formats.marks import (
    CALLBACK,
    CELL_LINE,
    FETCH,
    GRADIENTS,
    KERAS_CALL,
    LOOP_LINE,
    MODEL_FILE,
    SESSION_CALL,
)


class Activity(IntEnum):
    """Classes of work; where several overlap, the time counts for the largest value (`event_span.h`)."""

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


# Events around ops, neither compute nor waiting: the runtime's, ours around lines and callbacks, and calls of Python
# functions that TensorFlow's tracer records (`$module.py:12 f`).
_WRAPPERS = (
    "EagerExecute",
    "EagerLocalExecute",
    "EagerKernelExecute",
    "FunctionRun",
    CELL_LINE,
    LOOP_LINE,
    CALLBACK,
    KERAS_CALL,
    MODEL_FILE,
    FETCH,
    GRADIENTS,
    SESSION_CALL,
    "$",
)
# CUPTI and ROCm write MemcpyH2D, TensorFlow's host events MEMCPYHToD.
_COPIES = {
    Activity.HOST_TO_DEVICE: ("MemcpyH2D", "MEMCPYHToD"),
    Activity.DEVICE_TO_HOST: ("MemcpyD2H", "MEMCPYDToH"),
    Activity.DEVICE_TO_DEVICE: ("MemcpyD2D", "MEMCPYDToD", "MemcpyP2P", "MEMCPYPToP"),
}
_DATA_LOADER = "enumerate(DataLoader)"  # PyTorch's annotation of the wait for a batch
_HALF_NAMES = ("half", "fp16", "bf16", "bfloat16")
_FULL_NAMES = ("float", "fp32", "f32", "sgemm", "double", "f64")


def classify(forest: Forest, group: Int32) -> npt.NDArray[np.int16]:
    """Return per event its `Activity`, `Activity.NONE` for events without a group; ``group`` is `Grouping.group`."""
    activity = np.zeros(len(group), dtype=np.int16)
    grouped = group >= 0
    host, device = grouped & forest.on_host, grouped & forest.on_device
    if host.any():
        np.copyto(activity, forest.once(_host_activity), where=host)
    if device.any():
        if forest.once(framework) != "pytorch":  # TensorFlow numbers what it launched
            device &= _launched(forest)
        activity[device] = _device_activity(forest)[device]
    return activity


def _launched(forest: Forest) -> Bools:
    launched: Bools = forest.host.ints("correlation_id").dense(len(forest.host)).astype(np.int64) >= 0
    return launched


def _host_activity(forest: Forest) -> npt.NDArray[np.int16]:
    activity = _activity_of_names(forest)[forest.host.metadata]
    activity[forest.are_annotations & (activity != Activity.WAIT_INPUT)] = Activity.NONE
    activity[_waiting_stages(forest)] = Activity.WAIT_INPUT
    if forest.on_device.any():
        weaker = (activity == Activity.HOST_COMPUTE) | (activity == Activity.WAIT_INPUT)
        activity[_launched(forest) & weaker] = Activity.KERNEL_LAUNCH
    return activity


def _waiting_stages(forest: Forest) -> Int64:
    """Return the outermost stages of PyGrain's input pipelines, except those that work ahead on another thread."""
    host = forest.host
    stages = host.texts("_ipl_stage_name").rows
    if not len(stages):
        return stages
    outermost = forest.outermost(stages)
    produced = pd.MultiIndex.from_arrays([host.ints(stat).at(stages) for stat in ("_pt", "_p")])
    consumed = pd.MultiIndex.from_arrays([host.ints(stat).at(outermost) for stat in ("_ct", "_c")])
    ahead = consumed.isin(produced) & np.isin(outermost, host.ints("_ct").rows)
    waiting: Int64 = outermost[~ahead]
    return waiting


def _activity_of_names(forest: Forest) -> npt.NDArray[np.int16]:
    """Return per name the `Activity` of its events on the host."""
    activity = np.full(len(forest.host.names), Activity.HOST_COMPUTE, dtype=np.int16)
    # By its type where an event has one: the op's name may have a scope, "v0/IteratorGetNext:IteratorGetNext".
    fetching = forest.names_starting("IteratorGetNext", _DATA_LOADER) | forest.names_with(":IteratorGetNext")
    activity[fetching] = Activity.WAIT_INPUT
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
    """Whether TensorFlow up to 2.10 made the capture; its own tools stored their results beside it.

    Our results agree with those, even where the meaning has changed since: copies on a device counted as compute. These
    versions stored the groups of events with the events, and the older ones name a kernel's op in ``level 0``. Records
    of `session.run` are no such captures.
    """
    if any(line.name == RUNS for line in forest.host.lines):
        return False
    grouped = forest.host.ints("group_id").rows
    return bool(forest.on_device[grouped].any()) or len(forest.host.texts("level 0").rows) > 0


def tells_types(forest: Forest) -> bool:
    """Whether any event of a device says which type it computes in: its tensors' types, or its name."""
    if not forest.on_device.any():
        return False
    ran = forest.host.metadata[forest.on_device]
    shaped = forest.host.texts("shape").rows
    named = forest.names_with(*_HALF_NAMES, *_FULL_NAMES)
    return bool(forest.on_device[shaped].any() or named[ran].any())


def _sixteen_bit(forest: Forest) -> Bools:
    """Return per event whether it computes in 16 bit: by its tensors' types if the file has them, else by its name."""
    sixteen = forest.names_with(*_HALF_NAMES)[forest.host.metadata]
    shapes = forest.host.texts("shape")
    if shapes.categories is not None and len(shapes.rows):
        half = [any(mark in text.lower() for mark in _HALF_NAMES) for text in shapes.categories]
        sixteen[shapes.rows] = np.array(half, dtype=bool)[shapes.values.astype(np.int64)]
    return sixteen


def tracing_spans(forest: Forest) -> tuple[Int64, Int64, Int64]:
    """Return calls that traced or compiled a `tf.function`: their events, and the start and end of tracing (ps).

    The call's event covers tracing and the run that follows; tracing ends where the function starts to run.
    """
    calls = forest.host.texts("tf_function_call")
    modes = calls.categories if calls.categories is not None else np.zeros(0, dtype=object)
    traced_mode = np.array([str(mode).startswith("traced") for mode in modes], dtype=bool)
    traced = calls.rows[traced_mode[calls.values.astype(np.int64)]] if len(calls.rows) else calls.rows
    start, end = forest.host.start_ps[traced], forest.ends_ps(traced)
    executables = forest.with_names(forest.names_with("Executable::Execute"))
    runs = np.flatnonzero(forest.named("FunctionRun") | executables)
    caller = forest.nearest_ancestor(runs, traced)
    runs, caller = runs[caller >= 0], caller[caller >= 0]
    ran_from = np.full(len(traced), -1, dtype=np.int64)
    np.maximum.at(ran_from, caller, forest.host.start_ps[runs])
    return traced, start, np.where(ran_from >= 0, ran_from, end)
