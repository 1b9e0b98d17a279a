"""GPU kernels: their time, the ops that launched them, and whether they used tensor cores."""

import re
from collections.abc import Sequence

from tfprof_nb import _units
from tfprof_nb.analysis.kernels import Kernels
from tfprof_nb.render.panels import Column, Figure, KeyFigures, Note, Panel, Table
from tfprof_nb.views.categories import DEVICE_COMPUTE
from tfprof_nb.views.columns import OP, op_column
from tfprof_nb.views.ops import largest_bars

_MAX_BARS = 16
_UP_TO_TYPES = re.compile(r"[^<(]*")
_SCALAR_OP = re.compile(r"\bscalar_(?!constant_)(\w+?)_op\b")


def function_name(kernel: str) -> str:
    """Return the function of a C++ kernel without namespaces and types, but with what Eigen computes in it.

    Examples
    --------
    >>> function_name("void tensorflow::(anonymous namespace)::Resize<float>(int, float const*)")
    'Resize'
    >>> function_name("void Eigen::internal::EigenMetaKernel<Eigen::internal::scalar_sum_op<float, float>, long>(long)")
    'EigenMetaKernel: sum'
    >>> function_name("maxwell_sgemm_128x64_nt")
    'maxwell_sgemm_128x64_nt'
    """
    found = _UP_TO_TYPES.match(kernel.replace("(anonymous namespace)::", ""))
    name = found[0].removeprefix("void ").rpartition("::")[2] if found else ""
    computed = ", ".join(dict.fromkeys(_SCALAR_OP.findall(kernel)))
    return f"{name}: {computed}" if computed else name or kernel


_COLUMNS = (
    Column("rank", "rank", "count", meaning="by total time"),
    Column("kernel", "kernel", "code", path=True, trim=function_name),
    op_column(meaning="the op that launched it"),
    Column("total_us", "total time", "us", bar=True),
    Column("occurrences", "runs", "count"),
    Column("avg_us", "average", "us"),
    Column("min_us", "shortest", "us"),
    Column("max_us", "longest", "us"),
    Column(
        "occupancy_percent",
        "occupancy",
        "percent",
        meaning="theoretical share of the possible warps that can be active",
    ),
    Column("tensor_core_eligible", "op can use tensor cores", "flag"),
    Column("tensor_core_used", "tensor cores used", "flag"),
    Column("registers_per_thread", "registers per thread", "count"),
    Column("shared_memory_bytes", "shared memory", "bytes", meaning="static and dynamic, per block"),
    Column("block", "block"),
    Column("grid", "grid"),
)


def panels(kernels: Kernels) -> list[Panel]:
    """Show the longest kernels, then all of them."""
    if not len(kernels.table):
        return [Note(note, "empty") for note in kernels.notes]
    numbers = kernels.summary
    figures = [
        Figure("kernel time", _units.microseconds(numbers["total_us"]), "summed over streams and devices"),
        Figure("distinct kernels", _units.count(numbers["kernels"])),
    ]
    columns: Sequence[Column] = _COLUMNS
    if (in_tensor_cores := numbers["tensor_core_share"]) is None:
        columns = [column for column in _COLUMNS if not column.key.startswith("tensor_core")]
    else:
        figures.append(Figure("in tensor cores", _units.share(in_tensor_cores), "share of kernel time"))
    return [
        KeyFigures(figures),
        largest_bars(
            "Kernels by total time",
            kernels.table,
            "kernel",
            DEVICE_COMPUTE,
            "total_us",
            trim=function_name,
            most=_MAX_BARS,
        ),
        Table("Kernels", kernels.table.assign(rank=range(1, len(kernels.table) + 1)), columns, selects=OP),
        *(Note(note, "info") for note in kernels.notes),
    ]
