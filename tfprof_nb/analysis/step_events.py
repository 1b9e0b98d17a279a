"""What each event of a step is doing: the classes that share out a step's time."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from tfprof_nb.analysis.forest import Forest

Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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


# The runtime's own frames around ops: they are neither compute nor waiting.
_WRAPPERS = ("EagerExecute", "EagerLocalExecute", "EagerKernelExecute", "FunctionRun")
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
    host = grouped & forest.on_host
    activity[host] = _host_activity(forest)[host]
    device = grouped & forest.on_device & _launched(forest)
    activity[device] = _device_activity(forest)[device]
    return activity


def _launched(forest: Forest) -> Bools:
    launched: Bools = forest.host.ints("correlation_id").dense(len(forest.host)).astype(np.int64) >= 0
    return launched


def _host_activity(forest: Forest) -> npt.NDArray[np.int16]:
    activity = np.full(len(forest.host), Activity.HOST_COMPUTE, dtype=np.int16)
    waits = forest.name_starts("IteratorGetNext")
    if forest.on_device.any():
        activity[_launched(forest) | forest.name_starts("ExecutorState::Process")] = Activity.KERNEL_LAUNCH
        waits &= activity != Activity.KERNEL_LAUNCH
    activity[waits] = Activity.WAIT_INPUT
    activity[forest.name_starts("MEMCPYHToH")] = Activity.HOST_TO_HOST
    activity[forest.name_starts("MEMCPYHToD") | _infeeds(forest)] = Activity.HOST_TO_DEVICE
    activity[forest.name_starts(*_WRAPPERS) | forest.named_as_marks] = Activity.NONE
    return activity


def _infeeds(forest: Forest) -> Bools:
    infeed = np.array([":InfeedEnqueue" in str(name) for name in forest.host.names], dtype=bool)
    return infeed[forest.host.metadata]


def _device_activity(forest: Forest) -> npt.NDArray[np.int16]:
    activity = np.full(len(forest.host), Activity.DEVICE_COMPUTE_32, dtype=np.int16)
    activity[_sixteen_bit(forest)] = Activity.DEVICE_COMPUTE_16
    activity[forest.name_starts("nccl")] = Activity.DEVICE_COLLECTIVES
    for copy, names in _COPIES.items():
        activity[forest.name_starts(*names)] = copy
    return activity


def _sixteen_bit(forest: Forest) -> Bools:
    """16-bit kernels: by their tensors' types where the file has them, else by the kernel's name."""

    def half(texts: npt.NDArray[np.object_]) -> Bools:
        return np.array([any(mark in str(text).lower() for mark in _HALF_NAMES) for text in texts], dtype=bool)

    sixteen = half(forest.host.names)[forest.host.metadata]
    shapes = forest.host.texts("shape")
    if shapes.categories is not None and len(shapes.rows):
        sixteen[shapes.rows] = half(shapes.categories)[shapes.values.astype(np.int64)]
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
    runs = np.flatnonzero(forest.named("FunctionRun") | _executables(forest))
    caller = forest.nearest_ancestor(runs, rows)
    runs, caller = runs[caller >= 0], caller[caller >= 0]
    began = np.full(len(rows), -1, dtype=np.int64)
    np.maximum.at(began, caller, forest.host.start_ps[runs])
    return rows, start, np.where(began >= 0, began, end)


def _executables(forest: Forest) -> Bools:
    names = np.array(["Executable::Execute" in str(name) for name in forest.host.names], dtype=bool)
    return names[forest.host.metadata]
