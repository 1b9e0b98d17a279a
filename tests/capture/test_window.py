"""A window lets the first steps pass, records so many or so long, and lets the program go on."""

import threading
import time

import keras
import pytest
import tensorflow as tf

from tfprof_nb import StepMarker
from tfprof_nb.capture.marks import step
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.recording import NothingRecordedError, Recording
from tfprof_nb.capture.tensorflow import is_tracing, trace_class
from tfprof_nb.capture.window import Window

Trace = tf.profiler.experimental.Trace


@pytest.fixture
def recording(tmp_path):
    """Start a recording with a window; whatever happens, it is stopped and nothing stays changed."""
    begin, end = trace_class().__init__, trace_class().__exit__
    started = []

    def start(**window):
        started.append(Recording(tmp_path, Options(), window=Window(**window)).start())
        return started[-1]

    yield start
    assert not is_tracing()
    assert (trace_class().__init__, trace_class().__exit__) == (begin, end)
    assert list(tmp_path.rglob(".capturing-*")) == []
    Recording(tmp_path, Options()).start().stop()


def loop(numbers):
    for i in numbers:
        with step(i):
            tf.add(1, 1)


def loop_while(condition, first=0):
    """Run steps while the condition holds; return the number of the next one."""
    while condition():
        loop([first])
        first += 1
    return first


@pytest.mark.parametrize(
    ("window", "steps"),
    [
        ({"warmup": 3}, range(3, 9)),
        ({"steps": 2}, range(2)),
        ({"warmup": 3, "steps": 2}, range(3, 5)),
        ({"warmup": 8, "steps": 5}, range(8, 9)),
    ],
)
def test_steps_of_a_loop(recording, read_marks, window, steps):
    capture = recording(**window)
    loop(range(9))
    assert read_marks(capture.stop()).steps() == list(steps)


def test_steps_of_keras_over_epochs_and_phases(recording, read_marks, model, data):
    capture = recording(warmup=4, steps=4)
    model().fit(data.take(3), validation_data=data.take(2), epochs=3, verbose=0)
    recorded = [(name, stats["step_num"]) for name, stats in read_marks(capture.stop())]
    assert recorded == [("test", 1), ("train", 3), ("train", 4), ("train", 5)]


def test_a_step_inside_a_step_does_not_count(recording, read_marks, model, data):
    fitted, other = model(), model()
    evaluate = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: other.evaluate(data.take(2), verbose=0)
    )
    capture = recording(warmup=2, steps=3)
    fitted.fit(data, verbose=0, callbacks=[evaluate])
    assert read_marks(capture.stop()).steps() == [2, 3, 4]


def test_marks_that_the_program_makes_itself_count(recording, read_marks):
    capture = recording(warmup=1, steps=2)
    for i in range(5):
        with Trace("train", step_num=i, _r=1), Trace("inner"):
            tf.add(1, 1)
    assert read_marks(capture.stop()).steps() == [1, 2]


def test_a_step_marker_beside_it_counts_nothing_twice(recording, read_marks, model, data):
    capture = recording(warmup=5, steps=3)
    model().fit(data, verbose=0, callbacks=[StepMarker()])
    assert read_marks(capture.stop()).steps() == [5, 6, 7]


def test_steps_that_did_not_finish_do_not_count(recording, read_marks):
    capture = recording(warmup=1)
    for error in (ValueError, StopIteration):
        with pytest.raises(error), step(0):
            raise error
    loop([1, 2])
    assert read_marks(capture.stop()).steps() == [2]


def test_the_program_goes_on_while_it_is_saved(recording):
    capture = recording(steps=2)
    loop(range(2))
    assert not is_tracing()  # though nobody stopped it
    loop(range(2, 100))
    capture.stop()


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_time_that_no_timer_can_wait_is_no_end(recording):
    capture = recording(max_seconds=1e30)
    loop(range(2))
    time.sleep(0.1)
    capture.stop()


def test_a_time_to_record(recording, read_marks):
    began = time.monotonic()
    capture = recording(max_seconds=0.2)
    after = loop_while(is_tracing)
    assert time.monotonic() - began >= 0.2
    loop([after])
    recorded = read_marks(capture.stop()).steps()
    assert recorded == list(range(len(recorded)))
    assert 0 < len(recorded) <= after


def test_time_counts_from_the_end_of_the_warmup(recording, read_marks):
    capture = recording(warmup=1, max_seconds=0.2)
    time.sleep(0.2)
    began = time.monotonic()
    loop([0])
    after = loop_while(is_tracing, first=1)
    assert time.monotonic() - began >= 0.2
    loop([after])
    recorded = read_marks(capture.stop()).steps()
    assert recorded == list(range(1, 1 + len(recorded)))
    assert 0 < len(recorded) < after


@pytest.mark.parametrize("warmup", [0, 1])
def test_a_delay_also_after_the_warmup(recording, read_marks, warmup):
    began = time.monotonic()
    capture = recording(delay_ms=100, warmup=warmup)
    first = loop_while(lambda: not is_tracing())
    assert time.monotonic() - began >= 0.1
    loop([first])
    assert read_marks(capture.stop()).steps() in ([first], [first - 1, first])  # it may begin just before a step


def test_a_warmup_after_the_delay(recording, read_marks):
    capture = recording(delay_ms=1, warmup=1)
    while capture._pacing._delayed:
        time.sleep(0.01)
    loop([0, 1])
    assert read_marks(capture.stop()).steps() == [1]


def test_a_step_that_began_before_recording_did_is_not_one_of_its_steps(recording, read_marks):
    capture = recording(delay_ms=500, steps=1)
    with step(0):
        while not capture._profiler.is_running:
            time.sleep(0.01)
    loop([1, 2])
    assert read_marks(capture.stop()).steps() == [1]


@pytest.mark.parametrize(
    ("window", "why"),
    [
        ({"warmup": 9}, "ended after 3 steps, before the 9 warm-up steps were over. Choose a smaller warmup"),
        ({"delay_ms": 60_000}, "ended before the delay of 60000 ms was over"),
    ],
)
def test_a_window_that_never_began(recording, tmp_path, window, why):
    capture = recording(**window)
    loop(range(3))
    with pytest.raises(NothingRecordedError, match=why):
        capture.stop()
    assert list(tmp_path.iterdir()) == []


def test_a_profiler_that_cannot_begin_later_does_not_harm_the_program(recording, monkeypatch):
    capture = recording(warmup=1)
    monkeypatch.setattr(capture._profiler, "begin", lambda: 1 / 0)
    loop(range(3))
    with pytest.raises(ZeroDivisionError):
        capture.stop()


def test_steps_of_another_thread_count(recording, read_marks):
    capture = recording(warmup=2, steps=2)
    thread = threading.Thread(target=loop, args=[range(9)])
    thread.start()
    thread.join()
    assert read_marks(capture.stop()).steps() == [2, 3]


@pytest.mark.parametrize(
    "wrong",
    [
        {"warmup": -1},
        {"warmup": 1.5},
        {"warmup": None},
        {"steps": 0},
        {"steps": "3"},
        {"steps": True},
        {"max_seconds": 0},
        {"max_seconds": float("nan")},
        {"max_seconds": float("inf")},
        {"delay_ms": -1},
        {"delay_ms": "soon"},
    ],
)
def test_wrong_windows(wrong):
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))} must be "):
        Window(**wrong)
