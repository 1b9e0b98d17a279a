"""Notes on the size of a capture and on its steps."""

import pytest

import tfprof_nb as tp
from builders import XSpace, forest
from tfprof_nb.analysis.steps import capture_notes as module
from tfprof_nb.analysis.steps.capture_notes import capture_notes, stopped_notes
from tfprof_nb.formats.marks import OPS_END


def capture(**mark):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for number in range(4):
        line.event("train", start_us=number * 10, duration_us=5, step_num=number, _r=1, **mark)
    return forest(space)


def test_an_ordinary_capture_has_no_notes():
    assert capture_notes([capture()], steps=4) == []
    assert capture_notes([], steps=0) == []


@pytest.mark.parametrize(("events", "steps"), [(7, 4), (1_000_000, 501)])
def test_a_large_capture_says_how_to_make_a_smaller_one(monkeypatch, events, steps):
    monkeypatch.setattr(module, "MAX_EVENTS", events)
    (note,) = capture_notes([capture(), capture()], steps)
    assert f"8 events in {steps} steps" in note
    assert "%%tfprofile --warmup 2 --steps 10" in note
    assert capture_notes([capture(), capture()], steps=0) == []  # nothing there to choose from
    assert capture_notes([capture(), capture()], steps, stopped=True) == []  # another note says the same


@pytest.mark.parametrize("in_windows", [False, True])
def test_steps_without_recorded_ops_make_no_capture_large(tmp_path, in_windows):
    space = XSpace()
    line = space.plane("/host:CPU").line("python")
    for number in range(600):
        line.event("train", start_us=number * 10, duration_us=5, step_num=number, _r=1)
    if in_windows:
        line.event(OPS_END, start_us=107)
    space.write(tmp_path / "host.xplane.pb")
    notes = tp.load(tmp_path / "host.xplane.pb").steps.notes
    assert any("larger than needed" in note for note in notes) != in_windows


def test_a_step_of_several_batches_says_so():
    (note,) = capture_notes([capture(steps_per_execution=8)], steps=4)
    assert "one execution of 8 batches" in note


def test_a_compiled_model_says_so():
    (note,) = capture_notes([capture(jit_compile=1)], steps=4)
    assert "jit_compile: XLA fuses" in note


@pytest.mark.parametrize(
    ("steps", "marked", "said"),
    [
        (1200, True, "has the 1,200 steps until then: --steps 1200 fits into this memory, --warmup 2 --steps 10 is"),
        (1, True, "has the 1 step until then: --steps 1 fits"),
        (8, False, "has the 8 steps until then: --max-seconds 45 fits into this memory, and --host-level 1"),
        (0, False, "has no steps: --max-seconds 45 fits into this memory, and --host-level 1"),
    ],
)
def test_a_recording_that_ended_early_names_options_that_hold(steps, marked, said):
    (note,) = stopped_notes([{"why": "size", "seconds": 90.0}], steps, marked=marked)
    assert said in note
