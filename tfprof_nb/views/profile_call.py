"""One call: the memory that it adds, its peak, and every kernel."""

from tfprof_nb import _units
from tfprof_nb.analysis.profile_call import CallProfile
from tfprof_nb.render.panels import Column, Figure, KeyFigures, Note, Panel, Table
from tfprof_nb.views.columns import OP, op_column

_COLUMNS = (
    Column("name", "kernel", "code", meaning="the op's type, or the tf.function that Python called"),
    op_column(meaning="its name inside the function"),
    Column("function", "in function", "code"),
    Column("bytes_added", "bytes added", "bytes", bar=True, meaning="by its outputs"),
    Column(
        "total_bytes", "total", "bytes", meaning="of all that the call had created and that was alive after the kernel"
    ),
    Column("input_shapes", "input shapes", "code"),
    Column("output_shapes", "output shapes", "code"),
    Column("time_us", "time", "us"),
)


def panels(call: CallProfile) -> list[Panel]:
    """Show the memory that the call adds, then every kernel in order."""
    figures = [
        Figure("new bytes", _units.size(call.new_bytes), "of the tensors and variables that are still alive"),
        Figure(
            "new tensors", _units.count(call.new_tensors), "created by the call and still alive, variables included"
        ),
        Figure("peak", _units.size(call.peak_bytes), "the most memory that the call's tensors took at one time"),
        Figure("kernels", _units.count(len(call.table))),
        Figure(
            "time",
            _units.milliseconds(call.summary["time_ms"]),
            "of the whole call, including the overhead of recording",
        ),
    ]
    return [KeyFigures(figures), *_kernels(call), *map(Note, call.notes)]


def _kernels(call: CallProfile) -> list[Panel]:
    if not len(call.table):
        return [Note("The call ran no kernel: it computed nothing with TensorFlow.", "empty")]
    of_functions = set() if call.table["function"].any() else {OP, "function"}
    shapes = {side: call.table[side].map(_shapes_text) for side in ("input_shapes", "output_shapes")}
    columns = [column for column in _COLUMNS if column.key not in of_functions]
    return [Table("Kernels", call.table.assign(**shapes), columns, selects=OP)]


def _shapes_text(shapes: list[list[int | None] | None] | float) -> str:
    """Write shapes as ``[32,10]``, with ``?`` for an unknown size and ``[...]`` for an unknown rank."""
    if not isinstance(shapes, list):
        return _units.MISSING
    sizes = (["..."] if shape is None else ["?" if size is None else str(size) for size in shape] for shape in shapes)
    return " ".join(f"[{','.join(shape)}]" for shape in sizes)
