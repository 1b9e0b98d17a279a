"""The kernels view."""

from builders import XSpace, forest
from tfprof_nb.analysis.kernels import kernels
from tfprof_nb.render.panels import Bars, Table
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
    shown = text_view("", tables)
    assert "ShuffleInTensor2Simple  " in shown
    assert "ShuffleInTensor3Simple  " in shown
    assert "void" not in shown


def of_lengths(*lengths_us):
    """Kernels of different names, each of which runs once."""
    space = XSpace()
    stream = space.plane("/device:GPU:0").line("Stream #1")
    for k, length in enumerate(lengths_us):
        stream.event(f"kernel{k}", start_us=1000 * k, duration_us=length, kernel_details="regs:32", tf_op="op:Op")
    return panels(kernels([forest(space)]))


def test_kernels_have_their_rank_which_is_in_the_csv_too():
    (table,) = (panel for panel in of_lengths(10, 30, 20) if isinstance(panel, Table))
    assert table.columns[0].key == "rank"
    assert table.frame[["rank", "kernel"]].to_numpy().tolist() == [[1, "kernel1"], [2, "kernel2"], [3, "kernel0"]]


def bars(*lengths_us):
    (chart,) = (panel for panel in of_lengths(*lengths_us) if isinstance(panel, Bars))
    return chart


def test_as_many_kernels_have_a_bar_as_make_most_of_the_time():
    chart = bars(*[1000 * 0.8**k for k in range(40)])
    shown, others = chart.parts[:-1], chart.parts[-1]
    whole = sum(part.value for part in chart.parts)
    assert sum(part.value for part in shown[:-1]) < 0.9 * whole <= sum(part.value for part in shown)
    assert others.label == f"{40 - len(shown)} others"


def test_the_others_are_never_the_largest_bar():
    chart = bars(*[10] * 400)
    assert "others" not in chart.parts[-1].label
    assert chart.title.endswith(f"the {len(chart.parts)} largest of 400, {len(chart.parts) / 4:.1f}%")
