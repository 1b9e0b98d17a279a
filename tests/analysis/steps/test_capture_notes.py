"""What is said of a capture's size and of what its steps are."""

import pytest

from builders import XSpace, forest
from tfprof_nb.analysis.steps import capture_notes as module
from tfprof_nb.analysis.steps.capture_notes import capture_notes


def capture(**mark):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for number in range(4):
        line.event("train", start_us=number * 10, duration_us=5, step_num=number, _r=1, **mark)
    return forest(space)


def test_of_an_ordinary_capture_nothing_is_said():
    assert capture_notes([capture()], steps=4) == []
    assert capture_notes([], steps=0) == []


@pytest.mark.parametrize(("events", "steps"), [(7, 4), (1_000_000, 501)])
def test_a_large_capture_says_how_to_make_a_smaller_one(monkeypatch, events, steps):
    monkeypatch.setattr(module, "MAX_EVENTS", events)
    (note,) = capture_notes([capture(), capture()], steps)
    assert f"8 events in {steps} steps" in note
    assert "%%tfprofile --warmup 2 --steps 10" in note
    assert capture_notes([capture(), capture()], steps=0) == []  # nothing there to choose from


def test_a_step_of_several_batches_says_so():
    (note,) = capture_notes([capture(steps_per_execution=8)], steps=4)
    assert "one execution of 8 batches" in note


def test_a_compiled_model_says_so():
    (note,) = capture_notes([capture(jit_compile=1)], steps=4)
    assert "jit_compile: XLA fuses" in note
