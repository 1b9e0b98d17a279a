"""The tf.data view: the verdict first, then what to change, then the proof."""

import re

import pytest

from builders import XSpace, forest
from shown import shown
from tfprof_nb.analysis.tf_data.tf_data import tf_data
from tfprof_nb.render.panels import Network, Note, Table, Tabs
from tfprof_nb.render.static_form import static_view
from tfprof_nb.render.text import text_view
from tfprof_nb.views.tf_data import panels


def result(duration_us=0, stages=("Map",), **program):
    """One call of a pipeline; each stage takes 2 us of its own, the innermost the rest."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    name = "Iterator::Root"
    for depth, stage in enumerate(("", *stages) if duration_us else ()):
        name = f"{name}::{stage}" if stage else name
        python.event(name, start_us=depth, duration_us=duration_us - 2 * depth, id=depth + 1, parent_id=depth)
    return tf_data([forest(space)], **program)


def test_the_answer_names_the_stage_its_time_and_the_cure():
    answer, advice, *_ = panels(result(100))
    assert answer == Note(
        "1 of 1 calls for data took over 50 µs. The slowest stage is Map: it took 98.0 µs of a call of 100 µs.",
        "answer",
    )
    assert advice.kind == "advice"
    assert "ds.map(f, num_parallel_calls=tf.data.AUTOTUNE)" in advice.text


def test_what_the_programs_advice_knows_stands_in_the_place_of_what_helps_in_general():
    fix = Note("Shuffle first.", "advice")
    assert [panel for panel in panels(result(100), fix) if getattr(panel, "kind", "") == "advice"] == [fix]


def test_the_answer_says_how_the_call_compares_with_the_median_one():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for k, duration_us in enumerate((100, 700, 300)):
        start, root = 1000 * k, 10 * k + 1
        python.event("Iterator::Root", start_us=start, duration_us=duration_us, id=root)
        python.event("Iterator::Root::Map", start_us=start, duration_us=duration_us - 2, id=root + 1, parent_id=root)
    answer, *_ = panels(tf_data([forest(space)]))
    assert answer.text.endswith("a call of 700 µs. This call is the slowest of 3 calls; the median call takes 300 µs.")


def test_the_picture_leads_from_the_source_to_the_end_and_shows_what_the_call_waited_for():
    pipeline = next(panel for panel in shown(panels(result(100, ["Batch", "Map"]))) if isinstance(panel, Network))
    assert [(box.name, round(box.share, 6), box.inputs, box.mark) for box in pipeline.boxes] == [
        ("Map", 0.96, [], "bottleneck"),
        ("Batch", 0.02, [0], ""),
        ("Root: the pipeline's end", 0.02, [1], ""),
    ]
    assert pipeline.boxes[0].lines == ("waited for 96.0 µs", "1 call, total 96.0 µs")


def test_two_sources_feed_the_stage_that_their_places_begin_with():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    calls = [("Root", 0, 100, 0), ("Root::Zip", 1, 98, 1), ("Root::Zip[0]::Map", 2, 50, 2)]
    calls += [("Root::Zip[0]::Map::Range", 3, 40, 3), ("Root::Zip[1]::Slice", 60, 20, 2)]
    for k, (place, start_us, duration_us, parent) in enumerate(calls):
        linked = {"parent_id": parent} if parent else {}
        python.event(f"Iterator::{place}", start_us=start_us, duration_us=duration_us, id=k + 1, **linked)
    pipeline = next(panel for panel in shown(panels(tf_data([forest(space)]))) if isinstance(panel, Network))
    names = [box.name.partition(":")[0] for box in pipeline.boxes]
    fed = {name: sorted(names[k] for k in box.inputs) for name, box in zip(names, pipeline.boxes, strict=True)}
    assert fed == {"Range": [], "Map": ["Range"], "Slice": [], "Zip": ["Map", "Slice"], "Root": ["Zip"]}


def test_any_call_of_any_pipeline_can_be_chosen():
    (calls,) = (panel for panel in panels(result(100)) if isinstance(panel, Tabs))
    assert [tab.name for tab in calls.tabs] == ["the one above, 100 µs", "1. slowest, 100 µs, Map"]
    assert [type(panel) for panel in calls.tabs[1].open()] == [Network, Table]


def test_a_call_that_nothing_held_up_has_a_name_too():
    shown_calls = result(100)
    shown_calls._calls["bottleneck"] = float("nan")  # what a frame makes of None
    (calls,) = (panel for panel in panels(shown_calls) if isinstance(panel, Tabs))
    assert calls.tabs[-1].name == "1. slowest, 100 µs"


def test_a_single_slow_call_among_quick_ones_makes_no_slowest_stage():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for k, duration_us in enumerate((40, 56, 40)):
        start, root = 1000 * k, 10 * k + 1
        python.event("Iterator::Root", start_us=start, duration_us=duration_us, id=root)
        python.event("Iterator::Root::Map", start_us=start, duration_us=duration_us - 2, id=root + 1, parent_id=root)
    answer, *_ = panels(tf_data([forest(space)]))
    assert answer.text == "1 of 3 calls for data took over 50 µs. Map took 54.0 µs of its 56.0 µs."


def test_a_capture_with_nothing_but_a_device_s_pipeline_can_be_shown():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("Iterator::Prefetch", duration_us=100, id=1)
    python.event("Iterator::Prefetch::Generator", duration_us=90, id=2, parent_id=1)
    drawn = panels(tf_data([forest(space)]))
    assert drawn[0] == Note("No call for data on a host was recorded.", "answer")
    assert "runs on a device" in text_view("", drawn)


def test_a_stage_that_the_call_did_not_wait_for_does_not_delay_it():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for depth, name in enumerate(("Iterator::Root", "Iterator::Root::Take", "Iterator::Root::Take::Map")):
        python.event(name, duration_us=100, id=depth + 1, parent_id=depth)
    tables = [panel for panel in shown(panels(tf_data([forest(space)]))) if isinstance(panel, Table)]
    (stages,) = (table for table in tables if "long_name" in table.frame)
    assert dict(zip(stages.frame["name"], stages.frame["delays"], strict=True)) == {
        "Root": False,
        "Take": False,
        "Map": True,
    }


def test_quick_calls_need_no_advice():
    shown = panels(result(40))
    assert shown[0].text == "tf.data keeps up: the only call took 40.0 µs."
    assert [panel for panel in shown if isinstance(panel, Note) and panel.kind == "advice"] == []


def test_a_program_that_hardly_waits_for_data_gets_no_advice():
    answer, hardly, *_ = panels(result(100, waiting_percent=0.5))
    assert answer.text == ("tf.data keeps up: steps wait for data in 0.5% of their time. The only call took 100 µs.")
    assert hardly == Note("There is little to gain here.", "info")
    assert panels(result(100, waiting_percent=5.0))[1].kind == "advice"


def test_a_call_that_is_little_of_a_capture_without_steps_is_no_finding():
    """Nothing tells how long such a program waits, but it is not longer than the call: 0.1 of 50 ms."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("Iterator::Root", duration_us=100, id=1)
    python.event("Iterator::Root::Map", start_us=1, duration_us=98, id=2, parent_id=1)
    python.event("matmul:MatMul", start_us=200, duration_us=49_800)
    answer, hardly, *_ = panels(tf_data([forest(space)]))
    assert answer.text == "tf.data keeps up: steps wait for data in 0.2% of their time. The only call took 100 µs."
    assert hardly.text == "There is little to gain here."


def test_empty_says_why_and_what_to_do():
    (note,) = panels(result())
    assert note.kind == "empty"
    assert "host_level" in note.text
    assert "tf.data.Dataset" in note.text


@pytest.mark.parametrize("duration_us", [0, 40, 100])
def test_every_column_is_in_its_frame_and_everything_can_be_drawn(duration_us):
    shown = panels(result(duration_us))
    for table in (panel for panel in shown if isinstance(panel, Table)):
        assert {column.key for column in table.columns} <= set(table.frame)
    for drawn in (text_view("", shown), static_view("", shown)):
        assert ("Map" in drawn) == (duration_us > 0)


def test_of_several_pipelines_the_worst_is_named_and_one_menu_has_the_calls_of_all():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for number, (stage, length) in enumerate((("Map", 100), ("Batch", 60))):
        at = {"start_us": 1000 * number, "duration_us": length, "id": 10 * number + 1}
        python.event("Iterator::Root", **at)
        at = {"start_us": 1000 * number + 1, "duration_us": length - 2, "id": 10 * number + 2}
        python.event(f"Iterator::Root::{stage}", **at, parent_id=10 * number + 1)
    found = panels(tf_data([forest(space)]))
    answers = [panel.text for panel in found if isinstance(panel, Note)]
    assert re.fullmatch(r"The slowest stage is `Iterator::Root::Map` of pipeline \d \(Map\)\.", answers[-1])
    (calls,) = (panel for panel in found if isinstance(panel, Tabs))
    assert calls.label == "call"
    assert [name.partition(", ")[2] for name in [tab.name for tab in calls.tabs][1:]] == [
        "1. slowest, 100 µs, Map",
        "1. slowest, 60.0 µs, Batch",
    ]
    assert not any("The slowest stage is `" in getattr(panel, "text", "") for panel in panels(result(100)))


def test_no_bottleneck_is_named_where_a_prefetch_absorbs_slow_calls():
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for k in range(3):
        for depth, stage in enumerate(("Iterator::Root", "Iterator::Root::Prefetch", "Iterator::Root::Prefetch::Map")):
            parent = {"parent_id": 10 * k + depth} if depth else {}
            start, length = 1000 * k + depth, 100 - 2 * depth
            python.event(stage, start_us=start, duration_us=length, id=10 * k + depth + 1, **parent)
    found = panels(tf_data([forest(space)], waiting_percent=0.5))
    assert found[0].text == (
        "tf.data keeps up: steps wait for data in 0.5% of their time. 3 of 3 calls took over 50 µs: the prefetch "
        "absorbs that."
    )
    text = text_view("", found)
    assert "bottleneck" not in text.partition("Stages,")[0]
    (pipeline,) = (panel for panel in shown(found) if isinstance(panel, Network))
    assert {box.mark for box in pipeline.boxes} == {""}


def test_hosts_and_ranks_are_two_choices_and_ranks_reach_the_quickest_call():
    spaces = []
    for length in (60, 100):
        space = XSpace()
        python = space.plane("/host:CPU").line("python")
        for k in range(120):
            python.event("Iterator::Root", start_us=1000 * k, duration_us=length + k, id=10 * k + 1)
            stage = {"start_us": 1000 * k + 1, "duration_us": length + k - 2, "id": 10 * k + 2, "parent_id": 10 * k + 1}
            python.event("Iterator::Root::Map", **stage)
        spaces.append(forest(space, f"host{length}"))
    (hosts,) = (panel for panel in panels(tf_data(spaces)) if isinstance(panel, Tabs))
    assert (hosts.label, [tab.name for tab in hosts.tabs]) == ("host", ["host100", "host60"])
    (ranks,) = hosts.tabs[1].open()
    assert ranks.label == "call"
    assert len(ranks.tabs) == 50
    assert ranks.tabs[-1].name == "120. slowest, 60.0 µs, Map"
