"""The input view: whether steps wait for data in words, what to change, and what reading data is made of."""

import pytest

from builders import XSpace, forest
from shown import shown as in_static_form
from tfprof_nb.analysis.input_pipeline import input_pipeline
from tfprof_nb.analysis.ops.ops import ops
from tfprof_nb.analysis.overview import overview
from tfprof_nb.analysis.steps.groups import group_events
from tfprof_nb.analysis.steps.steps import steps
from tfprof_nb.analysis.tf_data.tf_data import tf_data
from tfprof_nb.render.panels import Bars, Lines, Note, StackedBars, Table
from tfprof_nb.render.static_form import static_view
from tfprof_nb.render.text import text_view
from tfprof_nb.views.categories import INPUT
from tfprof_nb.views.input_pipeline import panels


def training(wait_us=0, iterators=("Iterator::Root",), ids=True, compute_us=None):
    """Steps of 1000 us that wait for data first, and compute for the rest."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(3):
        python.event("train", start_us=1000 * i, duration_us=1000, step_num=i, _r=1)
        if wait_us:
            python.event("IteratorGetNext:IteratorGetNext", start_us=1000 * i, duration_us=wait_us)
        for depth, name in enumerate(iterators):
            linked = {"id": depth + 1, "parent_id": depth} if ids else {}
            python.event(name, start_us=1000 * i + depth, duration_us=wait_us - 2 * depth, **linked)
        compute = 1000 - wait_us if compute_us is None else compute_us
        python.event("MatMul:MatMul", start_us=1000 * i + wait_us, duration_us=compute)
    return space


def _panels(forests, measured):
    of_ops = ops(forests)
    result = input_pipeline(measured, of_ops, overview(forests, measured, of_ops))
    return list(in_static_form(panels(result, tf_data(forests), measured)))


def shown(space):
    forests = [forest(space)]
    measured = steps(forests, [group_events(forest) for forest in forests])
    return _panels(forests, measured)


def notes(found, kind):
    return [panel.text for panel in found if isinstance(panel, Note) and panel.kind == kind]


def test_the_answer_is_first_and_the_slowest_stage_follows():
    found = shown(training(300, ["Iterator::Root", "Iterator::Root::Map"]))
    assert found[0] == Note("Highly input-bound: steps wait for data 30.0% of their time.", "answer")
    assert found[1].kind == "advice"
    assert found[1].text.startswith("Map is the slowest stage.")
    assert "num_parallel_calls=tf.data.AUTOTUNE" in found[1].text


def test_a_quick_fetch_and_waits_at_the_start_of_a_pass_need_no_advice():
    found = shown(training(100, ["Iterator::Root", "Iterator::Root::Map"]))
    assert found[0] == Note("The input pipeline keeps up: a step fetches its batch in 100 µs.", "answer")
    assert not notes(found, "advice")
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(40):
        python.event("train", start_us=10_000 * i, duration_us=10_000, step_num=i, _r=1)
        wait_us = 9_000 if i % 10 == 0 else 20
        python.event("IteratorGetNext:IteratorGetNext", start_us=10_000 * i, duration_us=wait_us)
        for depth, name in enumerate(["Iterator::Root", "Iterator::Root::Map"]):
            python.event(name, start_us=10_000 * i, duration_us=wait_us - depth, id=depth + 1, parent_id=depth)
        python.event("MatMul:MatMul", start_us=10_000 * i + wait_us, duration_us=10_000 - wait_us)
    found = shown(space)
    assert found[0].text == (
        "Only few steps wait for data, at the start of a pass over it: 9.2% of the time of all steps."
    )
    assert not notes(found, "advice")


def test_without_linked_iterators_the_advice_goes_by_class():
    (advice,) = notes(shown(training(600, ["Iterator::Root::TFRecord"], ids=False)), "advice")
    assert advice.startswith("Reading files takes most of the input time, one after another")


def test_advice_on_preprocessing_leaves_out_what_the_pipeline_has():
    (advice,) = notes(shown(training(600, ["Iterator::Root", "Iterator::Root::Prefetch"], ids=False)), "advice")
    assert advice == "Preprocessing takes most of the input time. `.cache()` what stays the same."
    (advice,) = notes(shown(training(600, ["Iterator::Root", "Iterator::Root::Map"], ids=False)), "advice")
    assert advice.endswith(
        " time. Give `.map()` num_parallel_calls=tf.data.AUTOTUNE, `.cache()` what stays the same and end the pipeline "
        "with `.prefetch(tf.data.AUTOTUNE)`."
    )


@pytest.mark.parametrize(
    ("compute_us", "answer"), [(980, "The input pipeline keeps up"), (400, "Waiting for data takes 2")]
)
def test_input_that_keeps_up_needs_no_advice(compute_us, answer):
    found = shown(training(20, compute_us=compute_us))
    assert found[0].text.startswith(answer)
    assert notes(found, "advice") == []


def test_every_step_and_every_class_is_drawn():
    found = shown(training(300, ["Iterator::Root", "Iterator::Root::TFRecord"]))
    (graph,) = [panel for panel in found if isinstance(panel, StackedBars)]
    assert graph.series[0].values.tolist() == pytest.approx([300, 300, 300]), "µs"
    (bars,) = [panel for panel in found if isinstance(panel, Bars)]
    assert {part.label: round(part.value, 6) for part in bars.parts} == {
        "Demanded file read": round(3 * 0.298, 6),
        "Preprocessing": round(3 * 0.002, 6),
    }


def test_a_single_class_needs_no_chart():
    found = shown(training(300, ["Iterator::Root", "Iterator::Root::Map"]))
    assert [panel for panel in found if isinstance(panel, Bars)] == []


def test_of_several_hosts_the_slowest_is_drawn():
    fast, slow = training(300), training(300)
    slow.planes[0].lines[0].event("train", start_us=3000, duration_us=1400, step_num=3, _r=1)
    forests = [forest(space, host) for host, space in (("fast", fast), ("slow", slow))]
    measured = steps(forests, [group_events(forest) for forest in forests])
    found = _panels(forests, measured)
    (graph,) = [panel for panel in found if isinstance(panel, StackedBars)]
    assert graph.title == "Waiting for data per step on slow, the slowest of 2 hosts"
    assert graph.series[0].values.tolist() == pytest.approx([300, 300, 300, 0]), "µs"


def test_without_input_ops_it_says_why():
    found = shown(training(300, iterators=()))
    assert notes(found, "advice")[0].startswith("The data does not come from tf.data")
    (empty, *_) = notes(found, "empty")
    assert "host_level" in empty
    assert [panel for panel in found if isinstance(panel, Table)] == []


@pytest.mark.parametrize("wait_us", [20, 100, 300])
def test_every_column_is_in_its_frame_and_everything_can_be_drawn(wait_us):
    found = shown(training(wait_us))
    (table,) = [panel for panel in found if isinstance(panel, Table)]
    assert {column.key for column in table.columns} <= set(table.frame)
    for drawn in (text_view("", found), static_view("", found)):
        assert "Iterator::Root" in drawn


def test_the_step_time_graph_has_all_categories_also_where_nothing_waits():
    (graph,) = [panel for panel in shown(training(0)) if isinstance(panel, StackedBars)]
    assert (graph.title, [series.label for series in graph.series]) == ("Step time", ["host compute"])
    (waiting,) = [panel for panel in shown(training(300)) if isinstance(panel, StackedBars)]
    assert waiting.title == "Waiting for data per step"


def test_the_range_of_waiting_over_hosts_is_drawn_step_by_step():
    forests = [forest(training(wait_us), f"waits {wait_us}") for wait_us in (100, 300, 200)]
    measured = steps(forests, [group_events(forest) for forest in forests])
    found = _panels(forests, measured)
    (over,) = [panel for panel in found if isinstance(panel, Lines)]
    assert over.title == "Waiting for data over 3 hosts, per step"
    ranges = {series.label: series.values.tolist() for series in over.series}
    assert ranges == {"longest": [30.0] * 3, "mean": [20.0] * 3, "shortest": [10.0] * 3}


def test_no_class_of_input_ops_is_marked_where_nothing_waits():
    def colors(wait_us):
        (classes,) = [
            panel
            for panel in shown(training(wait_us, ["Iterator::Root", "Iterator::Root::TFRecord"]))
            if isinstance(panel, Bars)
        ]
        return {part.color for part in classes.parts}

    assert (INPUT in colors(300), INPUT in colors(20)) == (True, False)
