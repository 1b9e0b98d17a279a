"""The overview: the verdict in a sentence that says neither more nor less than the numbers do."""

import gzip
import json

import pytest

import tfprof_nb as tp
from builders import XSpace
from shown import shown
from tfprof_nb.render.panels import Note, Split
from tfprof_nb.views import dashboard
from tfprof_nb.views import overview as overview_view
from tfprof_nb.views.headline import headline


@pytest.fixture
def answer(tmp_path):
    """Return a function that says the answer for steps of 10 ms with so much input and unaccounted time, in percent."""

    def say(input_percent=0, other_percent=0, step_us=10_000):
        space = XSpace()
        python = space.plane("/host:CPU").line("python")
        for i in range(3):
            begin, wait_us = 2 * step_us * i, step_us * input_percent // 100
            python.event("train", start_us=begin, duration_us=step_us, step_num=i, _r=1)
            python.event("IteratorGetNext:x", start_us=begin, duration_us=wait_us)
            busy_us = step_us - wait_us - step_us * other_percent // 100
            python.event("mul:MatMul", start_us=begin + wait_us, duration_us=busy_us)
        space.write(tmp_path / "host.xplane.pb")
        return headline(tp.load(tmp_path).overview)

    return say


def test_waiting_for_data_is_told_by_the_guides_thresholds(answer):
    assert answer(input_percent=30) == "HIGHLY input-bound: 30.0% of each step waits for data."
    assert answer(input_percent=10) == (
        "MODERATELY input-bound: 10.0% of each step waits for data, 90.0% is host compute."
    )
    assert answer(input_percent=2).startswith("NOT input-bound: 98.0% of each step is host compute, 2.0% waits")


def test_short_fetches_bound_nothing_wherever_the_profile_was_made(answer):
    assert answer(input_percent=10, step_us=1000) == (
        "NOT input-bound: each step takes 1.00 ms, of which 100 µs fetches the batch. 90.0% is host compute."
    )


def test_much_time_that_nothing_accounts_for_may_be_waiting(answer):
    assert answer(other_percent=40).startswith("POTENTIALLY input-bound: 40.0% of each step is time that TensorFlow")


def test_a_little_such_time_leaves_the_first_word_to_what_takes_most(answer):
    assert answer(other_percent=4) == "NOT input-bound: 96.0% of each step is host compute, 0% waits for data."


def test_time_that_nothing_accounts_for_is_no_waiting_if_each_step_fetches_its_data(answer):
    assert answer(input_percent=1, other_percent=40) == (
        "NOT input-bound: 1.0% of each step waits for data. 40.0% of each step is Python code and other time outside "
        "of TensorFlow ops."
    )


def test_a_verdict_on_steps_does_not_stand_for_a_capture_of_which_they_are_little(tmp_path):
    """Two calls of `predict` between two steps of training that wait for their data; then nothing for long."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i, name in enumerate(("train", "predict", "predict", "train")):
        python.event(name, start_us=5000 * i, duration_us=1000, step_num=i, _r=1)
        python.event("IteratorGetNext:x", start_us=5000 * i, duration_us=400)
        python.event("mul:MatMul", start_us=5000 * i + 400, duration_us=600)
    python.event("saving", start_us=39_000, duration_us=1000)
    space.write(tmp_path / "host.xplane.pb")
    p = tp.load(tmp_path)
    assert headline(p.overview) == (
        "90.0% of the capture is outside steps. Only 5.0% is in measured steps: 60.0% of their time is host compute, "
        "40.0% waits for data."
    )
    assert p.overview.summary["verdict"] == "highly"


def test_a_verdict_on_steps_stands_beside_a_long_warm_up(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    python.event("train", start_us=0, duration_us=100_000, step_num=0, _r=1)
    python.event("f", start_us=10, duration_us=90_000, tf_function_call="traced-nonXla", tracing_count=1)
    for i in range(1, 5):
        start_us = 100_000 + 1000 * i
        python.event("train", start_us=start_us, duration_us=1000, step_num=i, _r=1)
        python.event("IteratorGetNext:x", start_us=start_us, duration_us=600)
        python.event("mul:MatMul", start_us=start_us + 600, duration_us=400)
    space.write(tmp_path / "host.xplane.pb")
    overview = tp.load(tmp_path).overview
    assert overview.summary["measured_steps_ms"] < 0.1 * overview.summary["capture_ms"]
    assert headline(overview).startswith("HIGHLY input-bound: 60.0% of each step waits for data.")


def test_a_single_step_that_makes_the_verdict_is_named(tmp_path):
    """Ten steps of 1 ms wait 20 us each, one of 5 ms waits 4.5: 4.7 of 15 ms in all, but 2% of the median step."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(11):
        length, waited = (5000, 4500) if i == 7 else (1000, 20)
        python.event("train", start_us=5000 * i, duration_us=length, step_num=i, _r=1)
        python.event("IteratorGetNext:x", start_us=5000 * i, duration_us=waited)
        python.event("mul:MatMul", start_us=5000 * i + waited, duration_us=length - waited)
    space.write(tmp_path / "host.xplane.pb")
    assert headline(tp.load(tmp_path).overview) == (
        "HIGHLY input-bound: 31.3% of each step waits for data. But half of the steps wait less than 2.0%: step 7 "
        "alone has 95.7% of all waiting."
    )


def test_where_the_whole_capture_went_is_told_if_much_of_it_is_in_no_measured_step(tmp_path):
    """A first step that traces for 4 ms, four of 1 ms, one of validation of 2 ms; 20 ms in all."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    steps = [("train", 0, 4000), *(("train", 4000 + 1000 * i, 1000) for i in range(4)), ("test", 9000, 2000)]
    for number, (name, start, length) in enumerate(steps):
        python.event(name, start_us=start, duration_us=length, step_num=number, _r=1)
    python.event("f", start_us=100, duration_us=3500, tf_function_call="traced-nonXla")
    python.event("saving", start_us=19_000, duration_us=1000)
    space.write(tmp_path / "host.xplane.pb")
    p = tp.load(tmp_path)
    (whole,) = [
        panel
        for panel in overview_view.panels(p.overview, p.steps)
        if isinstance(panel, Split) and panel.title.startswith("The whole")
    ]
    assert whole.title == "The whole capture: 20.0 ms"
    assert {part.label: part.value for part in whole.parts} == pytest.approx(
        {"steps in the averages": 4, "warm-up steps": 4, "steps of other phases": 2, "outside steps": 10}
    )


def test_time_outside_of_steps_is_named_by_its_longest_event(tmp_path):
    """Two steps of 1 ms, then 6 ms in which a line of the cell deletes a handle for 5 ms; a worker works meanwhile."""
    space = XSpace()
    host = space.plane("/host:CPU")
    python = host.line("python")
    python.event("cell line 3", start_us=0, duration_us=8000)
    for i in range(2):
        python.event("train", start_us=1000 * i, duration_us=1000, step_num=i, _r=1)
    python.event("cell line 4", start_us=2000, duration_us=6000)
    python.event("TFE_DeleteTensorHandle", start_us=2500, duration_us=5000)
    host.line("worker").event("Compute", start_us=2000, duration_us=6000)
    space.write(tmp_path / "host.xplane.pb")
    p = tp.load(tmp_path)
    _, _, whole, *_ = overview_view.panels(p.overview, p.steps)
    assert [part.label for part in whole.parts] == [
        "steps in the averages",
        "outside steps (deleting an iterator: 5.00 ms)",
    ]


def test_a_call_outside_of_steps_has_the_name_of_the_op_that_it_starts(tmp_path):
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for i in range(2):
        python.event("train", start_us=1000 * i, duration_us=1000, step_num=i, _r=1)
    python.event("TFE_Py_FastPathExecute_C", start_us=2500, duration_us=5000)
    python.event("EagerLocalExecute: MakeIterator", start_us=2600, duration_us=4800)
    python.event("EagerLocalExecute: Const", start_us=2700, duration_us=100)
    space.write(tmp_path / "host.xplane.pb")
    p = tp.load(tmp_path)
    _, _, whole, *_ = overview_view.panels(p.overview, p.steps)
    assert whole.parts[-1].label == "outside steps (starting an iterator: 5.00 ms)"


def test_without_steps_there_is_no_verdict(tmp_path):
    space = XSpace()
    space.plane("/host:CPU").line("python").event("mul:MatMul", duration_us=10)
    space.write(tmp_path / "host.xplane.pb")
    assert headline(tp.load(tmp_path).overview).startswith("No step times")


def test_a_profile_without_steps_shows_its_notes_once(tmp_path):
    space = XSpace()
    space.errors.append("no room for kernels")
    space.plane("/host:CPU").line("python").event("mul:MatMul", duration_us=10)
    space.write(tmp_path / "host.xplane.pb")
    sections = {"capture": {"notes": [], "stopped": {"why": "size", "seconds": 300.0}}, "cell": "damaged"}
    (tmp_path / "host.tfprof.json.gz").write_bytes(gzip.compress(json.dumps({"version": 1, **sections}).encode()))
    p = tp.load(tmp_path)
    told = [
        "The profiler reported: no room for kernels",
        (
            "Recording ended after 300.0 s, when its events took the most memory that they may; the program went on. "
            "This profile has no"
        ),
        "The section cell of",
        "No steps: this profile has no step markers",
    ]
    notes = [panel.text for panel in shown(dashboard.panels(p, "overview")) if isinstance(panel, Note)]
    assert [sum(note.startswith(start) for note in notes) for start in told] == [1, 1, 1, 1]
    text = " ".join(str(p).split())
    assert [text.count(start) for start in told] == [1, 1, 1, 1]
