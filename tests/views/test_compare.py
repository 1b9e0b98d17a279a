"""The view of a comparison: the answer first, in words, then the picture and the tables."""

import numpy as np
import pytest

import tfprof_nb as tp
from builders import XSpace
from shown import shown
from tfprof_nb.render.panels import Bars, Lines, Note, Table
from tfprof_nb.views import compare as view
from tfprof_nb.views.categories import HOST_COMPUTE, INPUT

SLOW = [165, 167, 169, 169, 171, 173]
FAST = [60, 61, 62, 62, 63, 64]


@pytest.fixture
def profile(tmp_path):
    """Return a function that makes a profile of steps of some lengths, in milliseconds."""

    def make(lengths, name="made", *, wait=0.0, gap=0.0, mark="train", op="model/MatMul:MatMul"):
        space, start = XSpace(), 0.0
        python = space.plane("/host:CPU").line("python")
        for number, length in enumerate(lengths):
            python.event(mark, start_ms=start, duration_ms=length, step_num=number, _r=1)
            if wait:
                python.event("IteratorGetNext:x", start_ms=start, duration_ms=wait)
            python.event(op, start_ms=start + wait, duration_ms=length - wait)
            start += length + gap
        return tp.load(space.write(tmp_path / f"{len(list(tmp_path.iterdir()))}" / "host.xplane.pb"), name=name)

    return make


def said(*sides):
    """The sentences of the answer."""
    return [note.text for note in view.answer(tp.compare(*sides))]


def test_faster(profile):
    assert said(profile(SLOW), profile(FAST)) == [
        "2.73 times faster: one step took 169 ms, now 62.0 ms (63.3% less).",
        "In detail: the median step took 169 ms, now 62.0 ms.",
    ]


def test_slower(profile):
    assert said(profile(FAST), profile(SLOW))[0] == (
        "2.73 times slower: one step took 62.0 ms, now 169 ms (172.6% more)."
    )


def test_too_small_to_tell(profile):
    assert said(profile([100] * 20), profile([103] * 20))[0] == (
        "Too small to tell from one run of each: one step took 100 ms, now 103 ms (3.0% more). "
        "Single captures can't tell less than 20%: use --repeat 5."
    )
    before, after = [profile([100 + k] * 9) for k in range(5)], [profile([95 + k / 2] * 9) for k in range(5)]
    assert said(before[:3], after[:3])[0].endswith("So few captures can't tell less than 20%: use --repeat 5.")
    assert said(before, after)[0] == (
        "Too small to tell from 5 runs of each: one step took 102 ms, now 96.0 ms (5.9% less; 95% interval of the "
        "speedup: 1.04 to 1.08). Unless runs take turns, they can't tell less than 10%, as machines drift: use "
        "`tp.experiment`."
    )


def test_repeats(profile):
    before, after = [profile([100 + k] * 9) for k in range(5)], [profile([50 + k] * 9) for k in range(5)]
    assert said(before, after)[0] == (
        "1.96 times faster: one step took 102 ms, now 52.0 ms (49.0% less; "
        "5 runs of each, 95% interval of the speedup: 1.89 to 2.04)."
    )
    assert said(before, before)[0] == (
        "No difference that 5 runs of each could show: one step took 102 ms, now 102 ms "
        "(no change; 95% interval of the speedup: 0.971 to 1.03)."
    )
    assert said(before, after[:1])[0].startswith("2.04 times faster: one step took 102 ms, now 50.0 ms (")
    (runs,) = (panel for panel in view.panels(tp.compare(before, after[:3])) if isinstance(panel, Lines))
    assert {series.label: series.values.tolist() for series in runs.series} == {
        "before": [100, 101, 102, 103, 104],
        "after": [50, 51, 52, pytest.approx(np.nan, nan_ok=True), pytest.approx(np.nan, nan_ok=True)],
    }


def test_one_step(profile):
    assert said(profile(SLOW[:1]), profile([200]))[0].startswith("Too small to tell from one run of each: ")


def test_whole_captures(profile):
    assert said(profile([]), profile([]))[0].startswith(
        "Too small to tell from one run of each: the capture took 0 s, now 0 s (no change)."
    )


def test_not_the_same_work_is_said_first(profile):
    first, second, *_ = view.panels(tp.compare(profile(SLOW), profile(FAST, mark="predict")))
    assert first == Note("Not the same work: kind of step: train before, predict after.", "answer")
    assert second.text.startswith("2.73 times faster")


def test_time_that_no_step_sees_is_said(profile):
    _, step = said(profile(SLOW, gap=100), profile(SLOW[::-1], gap=2))
    assert step.endswith("The gap between steps took 100 ms, now 2.00 ms.")


def test_what_was_changed_is_said(profile):
    compared = tp.compare(profile(SLOW), profile(FAST))
    compared.summary["changes"] = ["batch size: 4 before, 8 after"]
    _, changed, step = (note.text for note in view.answer(compared))
    assert changed == "What was changed: batch size: 4 before, 8 after."
    assert step == ("In detail: the median step took 169 ms, now 62.0 ms; steps before and after do not do the same.")


def test_before_and_after_stand_side_by_side_for_each_kind_of_work(profile):
    found = shown(view.panels(tp.compare(profile(SLOW, wait=100), profile(FAST))))
    (bars,) = (panel for panel in found if isinstance(panel, Bars))
    assert [(part.label, round(part.value, 6), part.color) for part in bars.parts] == [
        ("host compute · before", 69, HOST_COMPUTE),
        ("after (-10%)", 62, HOST_COMPUTE),
        ("input · before", 100, INPUT),
        ("after (-100%)", 0, INPUT),
    ]


def test_tables(profile):
    compared = tp.compare(profile(SLOW, wait=100, op="old:Cos"), profile(FAST, op="new:Sin"))
    tables = {panel.title: panel.frame for panel in view.panels(compared) if isinstance(panel, Table)}
    assert list(tables) == [
        "What the time is made of",
        "The step and its parts, by median",
        "Ops that take less time, per step",
        "Ops that take more time, per step",
        "Ran only before, per step",
        "Ran only after, per step",
    ]
    assert tables["The step and its parts, by median"]["metric"].tolist() == ["step time", "input", "host compute"]
    assert tables["Ops that take less time, per step"]["op_name"].tolist() == ["IteratorGetNext", "old"]
    assert tables["Ran only before, per step"]["name"].tolist() == ["IteratorGetNext", "old"]
    assert tables["Ran only after, per step"]["name"].tolist() == ["new"]


def test_names_are_escaped_and_in_the_title(profile):
    html = tp.compare(profile(SLOW, "<b>one"), profile(FAST, "two")).view().to_html()
    assert "before: &lt;b&gt;one · after: two" in html
    assert "<b>one" not in html
