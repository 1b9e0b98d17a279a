"""GPU kernels: which ran, for which op, with which launch shape, and whether they used tensor cores.

The rules are those of XProf's `xplane_to_kernel_stats_db.cc` and `kernel_stats_utils.cc`, but with all rows instead of
1000, and with the kernel names of Hopper and Blackwell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from tfprof_nb._arrays import Bools, Int64, Objects
from tfprof_nb._units import PS_PER_US
from tfprof_nb.analysis.events.devices import GPU, TPU, device_planes, has_device_events
from tfprof_nb.analysis.events.forest import Forest
from tfprof_nb.analysis.events.op_labels import label_ops
from tfprof_nb.analysis.result import Result, empty_table

COLUMNS = [
    "kernel",
    "op_name",
    "registers_per_thread",
    "shared_memory_bytes",
    "block",
    "grid",
    "occupancy_percent",
    "tensor_core_eligible",
    "tensor_core_used",
    "occurrences",
    "total_us",
    "avg_us",
    "min_us",
    "max_us",
]
_DETAIL_KEYS = ["registers_per_thread", "shared_memory_bytes", "block", "grid"]
_KEYS = ["kernel", "op_name", *_DETAIL_KEYS, "tensor_core_eligible", "tensor_core_used"]
_SUMS = ("size", "sum", "min", "max")
_TYPES = {"registers_per_thread": "Int64", "shared_memory_bytes": "Int64", "occupancy_percent": "float64"}

_TENSOR_CORE_NAMES = (
    "16816",
    "c1688",
    "conv1x1",
    "conv2d_c1_k1",
    "dgrad_1x1_stride_2x2",
    "direct_group",
    "first_layer_wgrad_kernel",
    "h1688",
    "h884",
    "hmma",
    "i16832",
    "i8816",
    "s884",
    "s1688",
    "xmma_gemm",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_sparse_gemm",
    "xmma_warp_specialized_implicit_gemm",
    # Hopper and Blackwell: cuBLAS, warp-group MMA, CUTLASS 3, fifth-generation tensor cores.
    "nvjet",
    "gmma",
    "tensorop",
    "tcgen05",
    "utcmma",
)
_MATRIX_CORES = "Names of an AMD GPU's kernels do not tell whether they use its matrix cores."
_ELIGIBLE_OP = re.compile(
    r"(Conv2D|Conv2DBackpropFilter|Conv2DBackpropInput|Conv3D|DepthwiseConv2dNative|"
    r"DepthwiseConv2dNativeBackpropFilter|DepthwiseConv2dNativeBackpropInput|/MatMul|FusedMatMul|/CudnnRNN|"
    r"XlaDot|XlaDotV2)$|BatchMatMul|CudnnRNNV|CudnnRNNForward|CudnnRNNBackprop"
    # What JAX and PyTorch call such ops.
    r"|(^|/)(dot_general|conv_general_dilated)$|^aten::_?(cudnn_)?(conv|mm|addmm|bmm|baddbmm|matmul|linear)"
)


class LaunchDetails(NamedTuple):
    """The ``kernel_details`` of a launch; None for what is missing."""

    registers_per_thread: int | None
    shared_memory_bytes: int | None
    block: str | None
    grid: str | None
    occupancy_percent: float | None


class Kernels(Result):
    """Time by kernel, op and launch shape."""


def kernels(forests: Sequence[Forest]) -> Kernels:
    """Sum the time of all hosts' GPU kernels by kernel, op and launch shape, the longest first.

    Returns
    -------
    Kernels
        Its summary has ``kernels`` (rows), ``occurrences`` (launches), ``total_us`` and ``tensor_core_share`` (of the
        time, 0 to 1; None if that is unknown). Shared memory is static plus dynamic; occupancy is theoretical.
    """
    sums = [frame for forest in forests if len(frame := forest.once(kernel_sums))]
    table = _merged(pd.concat(sums, ignore_index=True) if sums else _no_sums())
    summary = _summary(table)
    if len(table) and _are_amd(forests):
        return Kernels(table, summary | {"tensor_core_share": None}, [_MATRIX_CORES])
    return Kernels(table, summary, [] if len(table) else [_why_empty(forests)])


def _are_amd(forests: Sequence[Forest]) -> bool:
    return any(plane.stats.get("device_vendor") == "AMD" for plane in device_planes(forests))


def parse_kernel_details(text: str) -> LaunchDetails:
    """Parse a ``kernel_details`` stat of any version: ``key:value`` tokens; invalid tokens are skipped.

    Examples
    --------
    >>> parse_kernel_details("regs:32 static_shared:7 dynamic_shared:8 grid:3,2,1 block:64,1,1 occ_pct:50")
    LaunchDetails(registers_per_thread=32, shared_memory_bytes=15, block='64,1,1', grid='3,2,1', occupancy_percent=50.0)
    """
    tokens = dict(token.split(":", 1) for token in text.split() if ":" in token)
    # TensorFlow 2.4 wrote `shm`, ROCm writes `group_mem`.
    shared = [_number(tokens.get(key)) for key in ("static_shared", "dynamic_shared", "shm", "group_mem")]
    known = [int(size) for size in shared if size is not None]
    registers = _number(tokens.get("regs"))
    return LaunchDetails(
        None if registers is None else int(registers),
        sum(known) if known else None,
        tokens.get("block"),
        tokens.get("grid"),
        _number(tokens.get("occ_pct")) or None,  # ROCm does not compute it, and writes 0
    )


def uses_tensor_cores(kernel: str) -> bool:
    """Whether a kernel's name is that of a kernel on tensor cores."""
    return any(part in kernel for part in _TENSOR_CORE_NAMES)


def kernel_sums(forest: Forest) -> pd.DataFrame:
    """Sum one host's launches: columns `_KEYS`, ``occupancy_percent`` and `_SUMS`."""
    host = forest.host
    details = host.texts("kernel_details")
    if details.categories is None or not len(details.rows):
        return _no_sums()
    chosen = forest.on_device[details.rows] & (host.duration_ps[details.rows] > 0)
    chosen &= (details.categories != "")[details.values.astype(np.int64)]
    events = details.rows[chosen]
    labels = label_ops(forest)
    launches = pd.DataFrame(
        {
            "kernel": host.metadata[events],
            "op": labels.code[events],
            "details": details.values[chosen].astype(np.int64),
            "einsum": _einsums_of_two(forest, events),
            "duration_ps": host.duration_ps[events],
        }
    )
    sums = launches.groupby(["kernel", "op", "details", "einsum"], as_index=False)["duration_ps"].agg(list(_SUMS))
    described = _described_launches(details.categories, sums["details"].to_numpy())
    described["kernel"] = host.names[sums["kernel"].to_numpy()]
    described["op_name"] = np.append(labels.op_name, "")[sums["op"].to_numpy()]
    used = _tested(described["kernel"], uses_tensor_cores)
    eligible = _tested(described["op_name"], lambda op_name: _ELIGIBLE_OP.search(op_name) is not None)
    return described.assign(
        tensor_core_used=used, tensor_core_eligible=used | eligible | sums["einsum"], **sums[list(_SUMS)]
    )


def _described_launches(texts: Objects, codes: Int64) -> pd.DataFrame:
    """Parse the ``kernel_details`` of launches, given as codes into ``texts``, each text once.

    Texts that no launch has are not parsed: in old files, events on host threads have some with stray memory.
    """
    distinct, which = np.unique(codes, return_inverse=True)
    details = [parse_kernel_details(str(text)) for text in texts[distinct]]
    frame = pd.DataFrame(details, columns=LaunchDetails._fields).astype(_TYPES)
    return frame.take(which).reset_index(drop=True)


def _tested(texts: pd.Series[str], test: Callable[[str], bool]) -> Bools:
    """Return per text the result of a test, which runs once for each distinct text."""
    code, distinct = pd.factorize(texts)
    return np.array([test(str(text)) for text in distinct], dtype=bool)[code]


def _einsums_of_two(forest: Forest, launches: Int64) -> Bools:
    """Return per launch whether it is of an einsum of exactly two operands: a matrix product, whatever its name."""
    equations = forest.host.texts("equation")
    if equations.categories is None:
        return np.zeros(len(launches), dtype=bool)
    pairs = np.array([str(text).partition("->")[0].count(",") == 1 for text in equations.categories], dtype=bool)
    return np.isin(launches, equations.rows[pairs[equations.values.astype(np.int64)]])


def _merged(sums: pd.DataFrame) -> pd.DataFrame:
    """Merge hosts and devices, and compute the columns that people read."""
    table = sums.groupby(_KEYS, as_index=False, dropna=False).agg(
        occupancy_percent=("occupancy_percent", "first"),
        occurrences=("size", "sum"),
        total_ps=("sum", "sum"),
        min_ps=("min", "min"),
        max_ps=("max", "max"),
    )
    table = table.sort_values(["total_ps", "kernel", "grid", "block", "op_name"], ascending=[False] + [True] * 4)
    for name in ("total", "min", "max"):
        table[f"{name}_us"] = table[f"{name}_ps"] / PS_PER_US
    table["avg_us"] = table["total_us"] / table["occurrences"]
    return table[COLUMNS].reset_index(drop=True)


def _summary(table: pd.DataFrame) -> dict[str, float | int | None]:
    total_us = float(table["total_us"].sum())
    tensor_core_us = float(table.loc[table["tensor_core_used"], "total_us"].sum())
    return {
        "kernels": len(table),
        "occurrences": int(table["occurrences"].sum()),
        "total_us": total_us,
        "tensor_core_share": tensor_core_us / total_us if total_us else None,
    }


def _why_empty(forests: Sequence[Forest]) -> str:
    for plane in device_planes(forests):
        if not plane.name.startswith(GPU):
            device = "a TPU" if plane.name.startswith(TPU) else "another accelerator"
            return f"This page shows kernels of GPUs: this program ran on {device}."
    if any(forest.once(has_device_events) for forest in forests):
        return "No kernels: this file has the times of the GPU's work, and not the details that this page lists."
    return "No kernels: this profile has no work of a GPU."


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _no_sums() -> pd.DataFrame:
    types = dict.fromkeys(_KEYS, object) | _TYPES | dict.fromkeys(_SUMS, np.int64)
    return empty_table(types | {"tensor_core_eligible": bool, "tensor_core_used": bool})
