"""The kernels view."""

from builders import XSpace, forest
from tfprof_nb.analysis.kernels import kernels
from tfprof_nb.render.panels import Table
from tfprof_nb.render.text import text_view
from tfprof_nb.views.kernels import panels


def test_kernels_with_long_names_can_be_told_apart():
    space = XSpace()
    stream = space.plane("/device:GPU:0").line("Stream #1")
    details = "int, float const*, tensorflow::Dimension<3>, float*, " * 3
    for k in (2, 3):
        name = f"void tensorflow::functor::ShuffleInTensor{k}Simple<float, 2, 1, 0, false>({details})"
        stream.event(name, start_us=10 * k, duration_us=10, kernel_details="regs:32 grid:1,1,1 block:64,1,1")
    tables = [panel for panel in panels(kernels([forest(space)])) if isinstance(panel, Table)]
    rows = [line for line in text_view("", tables).splitlines() if line.startswith("void")]
    assert len({row.split("  ")[0] for row in rows}) == 2
