"""The view of memory: a reader chooses the allocator, the one with the highest peak stands in front."""

import numpy as np
import pandas as pd
import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.memory.memory import memory
from tfprof_nb.render.panels import KeyFigures, Lines, Tabs
from tfprof_nb.render.view import View
from tfprof_nb.views import memory as view

MIB = 2**20


def result(*rows, process=None, before=0, **stats):
    """Memory of allocations ``(ms, allocator, heap)``, or of deallocations where the heap falls from ``before``."""
    space = XSpace()
    line, heaps = space.plane("/host:CPU").line("t"), {}
    for number, (ms, allocator, heap) in enumerate(rows):
        change = heap - heaps.get(allocator, before)
        heaps[allocator] = heap
        line.event(
            "MemoryAllocation" if change >= 0 else "MemoryDeallocation",
            start_ms=ms,
            allocator_name=allocator,
            bytes_allocated=heap,
            requested_bytes=abs(change),
            allocation_bytes=abs(change),
            addr=number,
            **{"bytes_reserved": 0, "bytes_available": 100 * MIB - heap} | stats,
        )
    return memory([forest(space)], process=process)


def charts(panels):
    """The pages of charts by name."""
    tabs, _ = (panel for panel in panels if isinstance(panel, Tabs))
    return {tab.name: tab.open()[0] for tab in tabs.tabs}


def figures(panels):
    (found,) = (panel for panel in panels if isinstance(panel, KeyFigures))
    return {figure.label: figure.value for figure in found.figures}


def tables(panels):
    _, tabs = (panel for panel in panels if isinstance(panel, Tabs))
    return {tab.name: tab.open()[0] for tab in tabs.tabs}


def test_the_allocator_with_the_highest_peak_comes_first():
    menu, *_ = view.panels(result((1, "small", MIB), (2, "large", 3 * MIB)))
    assert (menu.kind, menu.label, menu.shown) == ("menu", "allocator", 1)
    assert [tab.name for tab in menu.tabs] == ["large, peak 3.00 MiB", "small, peak 1.00 MiB"]
    assert figures(menu.tabs[1].open())["peak at"] == "1.00 ms"


def test_the_table_says_of_how_many_events_it_shows_some():
    few, many = (view.panels(result(*((k, "only", (k % 7) * MIB) for k in range(count)))) for count in (1500, 6000))
    assert len(tables(few)["every allocation"].frame) == 1500
    title = "allocations: 5,000 of 6,000, the highest of each stretch"
    assert len(tables(many)[title].frame) == 5000


def test_one_allocator_needs_no_menu():
    panels = view.panels(result((1, "only", MIB), (2, "only", 4 * MIB), (3, "only", 0)))
    assert figures(panels) == {
        "peak": "4.00 MiB",
        "peak at": "2.00 ms",
        "capacity": "100 MiB",
        "fragmentation": "0%",
        "allocations / deallocations": "2 / 1",
    }
    chart = charts(panels)["in use"]
    assert chart.x.tolist() == [1, 2, 3]
    assert chart.y_label == "MiB"
    assert [(series.label, series.values.tolist()) for series in chart.series] == [("heap", [1, 4, 0])]


def test_figures_stand_there_where_they_say_something_else_than_the_peak():
    said = figures(view.panels(result((1, "gpu", MIB), bytes_reserved=2 * MIB, peak_bytes_in_use=9 * MIB), 20.0 * MIB))
    assert said["of it stack"] == "2.00 MiB"
    assert said["highest since the program began"] == "9.00 MiB"
    assert said["peak of the whole process"] == "20.0 MiB"


@pytest.mark.parametrize(
    ("rows", "op", "said"),
    [
        ([(1, "gpu", MIB), (2, "gpu", 4 * MIB)], "mul", "The largest part, 3.00 MiB, belongs to `mul`."),
        ([(1, "gpu", MIB)], "", "gpu peaks at 1.00 MiB."),
    ],
)
def test_the_answer_names_the_peak_and_its_largest_part(rows, op, said):
    answer, *_ = view.panels(result(*rows, tf_op=op))
    assert answer.kind == "answer"
    assert answer.text.startswith("gpu peaks at ")
    assert answer.text.endswith(said)


def test_what_was_there_before_the_capture_is_said_to_be():
    answer, *_ = view.panels(result((1, "gpu", 9 * MIB), before=6 * MIB))
    assert answer.text.startswith("gpu peaks at 9.00 MiB. 6.00 MiB of it was allocated before the capture")


def test_free_memory_has_a_chart_of_its_own_and_fragmentation_an_axis():
    drawn = charts(view.panels(result((1, "gpu", MIB), (2, "gpu", 2 * MIB), fragmentation=0.25)))
    assert [series.label for series in drawn["in use and free"].series] == ["heap", "free"]
    assert drawn["in use and free"].series[1].values.tolist() == [99, 98]
    assert drawn["in use and free"].percent.values.tolist() == [25, 25]
    assert drawn["in use"].percent is None, "it would hide what is in use"
    assert charts(view.panels(result((1, "gpu", MIB))))["in use and free"].percent is None


def test_what_is_alive_is_that_allocators_and_unknowns_are_marked_so():
    menu, *_ = view.panels(result((1, "a", MIB), (2, "b", 5 * MIB)))
    live = tables(menu.tabs[0].open())["alive at the peak"].frame
    assert live["allocation_bytes"].tolist() == [5 * MIB]
    assert live[["op_name", "region_type", "data_type", "shape"]].to_numpy().tolist() == [["–"] * 4]


def test_events_have_what_the_guides_popup_has():
    panels = view.panels(result((1, "a", MIB), (2, "a", 0), tf_op="mul", region_type="temp", data_type=1, shape="[2]"))
    events = tables(panels)["every allocation"]
    shown = events.frame[[column.key for column in events.columns]]
    assert np.isnan(shown["step"]).all()
    assert shown.drop(columns="step").to_numpy().tolist() == [
        [1.0, "allocation", MIB, MIB, MIB, "mul", "temp", "float", "[2]"],
        [2.0, "deallocation", 0, -MIB, -MIB, "mul", "temp", "float", "[2]"],
    ]


def test_a_pointer_on_the_chart_reads_the_event():
    stats = {"tf_op": "dense/MatMul", "region_type": "output", "data_type": 1, "shape": "[8,8]"}
    found = charts(view.panels(result((1, "gpu", 2 * MIB), (2, "gpu", MIB), **stats)))["in use"]
    known = "op dense/MatMul · region output · type float · shape [8,8]"
    assert list(found.notes) == [
        f"allocation of 2.00 MiB, 2.00 MiB requested · 2.00 MiB in use · {known}",
        f"deallocation of -1.00 MiB, -1.00 MiB requested · 1.00 MiB in use · {known}",
    ]


def test_thinned_points_keep_the_descriptions_of_their_own_events():
    rows = [(k, "gpu", MIB * (1 + k % 7)) for k in range(3000)]
    found = charts(view.panels(result(*rows)))["in use"]
    assert len(found.x) == len(found.notes) < 3000
    for x, heap, note in zip(found.x, found.series[0].values, found.notes, strict=True):
        assert MIB * (1 + round(1000 * x) % 7) == heap * MIB
        assert f"{heap:.2f} MiB in use" in note


def test_an_allocator_that_nothing_limits_has_no_capacity():
    panels = view.panels(result((1, "mklcpu", 200), (2, "mklcpu", 400), bytes_available=0))
    assert not {"capacity", "fragmentation"} & set(figures(panels))
    assert list(charts(panels)) == ["in use"]


@pytest.mark.parametrize(("size", "said"), [(200, False), (256 << 10, True)])
def test_unrecorded_small_allocations_are_mentioned_only_where_none_is_recorded(size, said):
    assert any("below 256 KiB" in note for note in result((1, "mklcpu", size)).notes) == said


def test_peaks_survive_where_there_are_more_events_than_points():
    rows = [(ms, "a", MIB * (50 if ms == 1777 else ms % 2)) for ms in range(5000)]
    chart = charts(view.panels(result(*rows)))["in use"]
    assert len(chart.x) == 1000
    assert chart.series[0].values.max() == 50
    assert (chart.x[chart.series[0].values.argmax()], chart.x_label) == (1.777, "time (s)")


def test_times_below_two_seconds_are_in_milliseconds():
    chart = charts(view.panels(result((1, "a", MIB), (1999, "a", 2 * MIB))))["in use"]
    assert (chart.x.tolist()[-1], chart.x_label) == (1999, "time (ms)")


@pytest.fixture
def process():
    row = {"time_ms": 0.0, "host": "host", "metric": "process memory", "value": 2 * 2**30, "unit": "bytes"}
    return pd.DataFrame([row])


def test_of_a_process_only_what_is_known_is_shown(process):
    key_figures, chart, note = view.panels(result(process=process))
    assert figures([key_figures]) == {"peak": "2.00 GiB", "peak at": "0 s"}
    assert isinstance(chart, Lines)
    assert chart.series[0].values.tolist() == [2]
    assert chart.y_label == "GiB"
    assert note.text.startswith("TensorFlow recorded no allocation")


def test_it_can_be_drawn_everywhere(process):
    two, one, of_the_process = result((1, "a", MIB), (2, "b", MIB)), result((1, "a", MIB)), result(process=process)
    for memory_result, unit in ((two, "MiB"), (one, "MiB"), (of_the_process, "GiB")):
        shown = View("memory", view.panels(memory_result))
        shown._build()
        assert "peak" in shown.to_html()
        assert unit in str(shown)


def test_without_memory_it_says_why():
    (note,) = view.panels(result())
    assert note.kind == "empty"
    assert note.text.startswith("No memory events")


@pytest.mark.parametrize(("heap", "first"), [(20 * MIB, "in use and free"), (MIB, "in use")])
def test_heap_stack_and_free_are_in_the_picture_that_is_shown_first_unless_free_dwarfs_the_others(heap, first):
    tabs, _ = (p for p in view.panels(result((1, "only", heap), bytes_reserved=MIB)) if isinstance(p, Tabs))
    assert tabs.tabs[0].name == first
    (both,) = (tab for tab in tabs.tabs if tab.name == "in use and free")
    assert [series.label for series in both.open()[0].series] == ["heap", "stack", "free"]
