"""StepMarker marks steps in other people's captures, and stays silent in ours."""

from contextlib import contextmanager

import keras
import pytest
import tensorflow as tf

import tfprof_nb as tp


@pytest.fixture
def profiling(tmp_path, read_marks):
    """Context manager that captures with TensorFlow alone and gives the marks, filled when it ends."""

    @contextmanager
    def profile():
        marks = read_marks(tmp_path)  # of nothing
        with tf.profiler.experimental.Profile(str(tmp_path)):
            yield marks
        (run,) = (tmp_path / "plugins" / "profile").iterdir()
        marks.extend(read_marks(run))

    return profile


def test_it_is_a_keras_callback():
    assert isinstance(tp.StepMarker(), keras.callbacks.Callback)


def test_without_it_there_are_no_steps(profiling, model, data):
    with profiling() as marks:
        model().fit(data, verbose=0)
    assert marks == []


def test_every_phase_is_marked(profiling, model, data):
    fitted, marker = model(), tp.StepMarker()
    with profiling() as marks:
        fitted.fit(data.take(3), validation_data=data.take(1), epochs=2, verbose=0, callbacks=[marker])
        fitted.evaluate(data.take(2), verbose=0, callbacks=[marker])
        fitted.predict(data.take(2), verbose=0, callbacks=[marker])
    assert [name for name, _ in marks] == (["train"] * 3 + ["test"]) * 2 + ["test"] * 2 + ["predict"] * 2
    assert marks.steps() == list(range(6))
    assert [stats["epoch"] for _, stats in marks][:8] == [0] * 4 + [1] * 4


def test_the_batch_that_was_not_there_is_no_step(profiling, model, endless_data):
    fitted, marker = model(), tp.StepMarker()
    with profiling() as marks:
        fitted.fit(endless_data, validation_data=endless_data.take(1), verbose=0, callbacks=[marker])
        fitted.predict(endless_data, verbose=0, callbacks=[marker])
    assert marks.steps() == marks.steps("predict") == list(range(40))
    assert marks.unfinished("end_of_data") == ["train", "test", "predict"]


def test_after_an_error_it_marks_on(profiling, model, data):
    def fail(batch, logs):
        raise ValueError("stop here")

    fitted, marker = model(), tp.StepMarker()
    failing = keras.callbacks.LambdaCallback(on_train_batch_begin=fail)
    with profiling() as marks:
        with pytest.raises(ValueError, match="stop here"):
            fitted.fit(data, verbose=0, callbacks=[marker, failing])
        fitted.fit(data.take(2), verbose=0, callbacks=[marker])
    assert marks.steps() == [1, 2]
    assert marks.unfinished("interrupted") == ["train"]


def test_it_is_silent_where_our_capture_marks(capturing, model, data):
    with capturing() as marks:
        model().fit(data, verbose=0, callbacks=[tp.StepMarker()])
    assert marks.steps() == list(range(40))
    assert len(marks) == 40
