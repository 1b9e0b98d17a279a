"""The view of a comparison: the answer first, in words, then the picture and the tables."""

import pytest

import tfprof_nb as tp
from builders import XSpace
from shown import shown
from tfprof_nb.render.panels import Note, StackedBars, Table
from tfprof_nb.render.svg.bars import stacked_bars
from tfprof_nb.render.text import draw
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


def headline(*sides):
    return view.answer(tp.compare(*sides))[0].text


def test_faster(profile):
    assert headline(profile(SLOW), profile(FAST)) == (
        "2.73 times faster: the median step took 169 ms, now 62.0 ms (63.3% less)."
    )


def test_slower(profile):
    assert headline(profile(FAST), profile(SLOW)) == (
        "2.73 times slower: the median step took 62.0 ms, now 169 ms (172.6% more)."
    )


def test_no_difference(profile):
    assert headline(profile(SLOW), profile(SLOW[::-1])) == (
        "No difference that 6 steps could show: the median step took 169 ms, now 169 ms."
    )


def test_too_few_steps(profile):
    assert headline(profile(SLOW[:3]), profile(FAST)) == (
        "Too few steps to tell a difference from chance (3 and 6 steps; at least 5 of each are needed): "
        "the median step took 167 ms, now 62.0 ms (62.9% less)."
    )


def test_one_step(profile):
    assert "(1 step; at least 5 of each are needed)" in headline(profile(SLOW[:1]), profile(FAST[:1]))


def test_whole_captures(profile):
    assert headline(profile([]), profile([])) == (
        "Too few captures to tell a difference from chance (at least 5 of each are needed): "
        "the capture took 0 s, now 0 s (no change)."
    )


def test_not_the_same_work_is_said_first(profile):
    first, second, *_ = view.panels(tp.compare(profile(SLOW), profile(FAST, mark="predict")))
    assert first == Note("Not the same work: kind of step: train before, predict after.", "answer")
    assert second.text.startswith("2.73 times faster")


def test_time_that_no_step_sees_is_said(profile):
    said = headline(profile(SLOW, gap=100), profile(SLOW[::-1], gap=2))
    assert said.endswith("The gap between steps took 100 ms, now 2.00 ms.")


def test_before_and_after_stand_side_by_side_in_the_usual_colours(profile):
    (bars,) = (
        panel
        for panel in shown(view.panels(tp.compare(profile(SLOW, wait=100), profile(FAST))))
        if isinstance(panel, StackedBars)
    )
    assert (bars.names, bars.y_label, bars.selects) == (("before", "after"), "time (ms)", "")
    assert "before → after, time (ms): host compute 69.0 → 62.0, input 100 → 0" in "\n".join(draw(bars))
    assert "before → after, time (ms)" in stacked_bars(bars)
    assert "host compute 69.0 → 62.0<" in stacked_bars(bars)
    assert {(s.label, s.color): s.values.round(6).tolist() for s in bars.series} == {
        ("host compute", HOST_COMPUTE): [69, 62],
        ("input", INPUT): [100, 0],
    }


def test_tables(profile):
    compared = tp.compare(profile(SLOW, wait=100, op="old:Cos"), profile(FAST, op="new:Sin"))
    tables = {panel.title: panel.frame for panel in view.panels(compared) if isinstance(panel, Table)}
    assert list(tables) == [
        "Largest changes, by median",
        "Ops that take less time, per step",
        "Ops that take more time, per step",
        "Ran only before, per step",
        "Ran only after, per step",
    ]
    assert tables["Largest changes, by median"]["metric"].tolist() == ["step time", "input", "host compute"]
    assert tables["Ops that take less time, per step"]["op_name"].tolist() == ["IteratorGetNext", "old"]
    assert tables["Ran only before, per step"]["name"].tolist() == ["IteratorGetNext", "old"]
    assert tables["Ran only after, per step"]["name"].tolist() == ["new"]


def test_names_are_escaped_and_in_the_title(profile):
    html = tp.compare(profile(SLOW, "<b>one"), profile(FAST, "two")).view().to_html()
    assert "before: &lt;b&gt;one · after: two" in html
    assert "<b>one" not in html
