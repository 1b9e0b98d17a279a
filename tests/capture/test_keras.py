"""Steps of Keras models: one mark for each batch that ran, and Keras afterwards as it was before."""

import functools
import json

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.src.backend.tensorflow.trainer import TensorFlowTrainer
from keras.src.callbacks.callback_list import CallbackList
from keras.src.trainers.epoch_iterator import EpochIterator

from tfprof_nb.capture.keras import keras_steps, marks_steps
from tfprof_nb.capture.marks import is_open
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.recording import Recording


def test_every_batch_of_every_phase_is_a_step(capturing, model, data):
    fitted = model()
    with capturing() as marks:
        fitted.fit(data, verbose=0)
        fitted.evaluate(data, verbose=0)
        fitted.predict(data, verbose=0)
    for phase in ("train", "test", "predict"):
        assert marks.steps(phase) == list(range(40))
    assert all(stats["_r"] == 1 for _, stats in marks)
    assert len(marks) == 120


def test_numbers_go_on_over_epochs_and_fits(capturing, model, data):
    fitted = model()
    with capturing() as marks:
        fitted.fit(data.take(3), epochs=2, verbose=0)
        fitted.fit(data.take(3), verbose=0)
    assert marks.steps() == list(range(9))
    assert [stats["epoch"] for _, stats in marks] == [0] * 3 + [1] * 3 + [0] * 3


def test_the_batch_that_was_not_there_is_no_step(capturing, model, endless_data):
    fitted = model()
    with capturing() as marks:
        fitted.fit(endless_data, verbose=0)
        fitted.predict(endless_data, verbose=0)
    assert len(marks.steps()) == len(marks.steps("predict")) == 40
    assert marks.unfinished("end_of_data") == ["train", "predict"]


def test_validation_marks_its_own_steps(capturing, model, data):
    with capturing() as marks:
        model().fit(data.take(3), validation_data=data.take(2), epochs=2, verbose=0)
    assert [name for name, _ in marks] == (["train"] * 3 + ["test"] * 2) * 2


def test_evaluating_in_a_callback_leaves_the_training_step_open(capturing, model, data):
    fitted, other = model(), model()
    evaluate = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: other.evaluate(data.take(1).filter(lambda *_: True), verbose=0)
    )
    with capturing() as marks:
        fitted.fit(data.take(2), verbose=0, callbacks=[evaluate])
    assert marks.steps() == [0, 1]
    assert marks.steps("test") == [0, 2]  # number 1 asked for the batch that was not there
    assert not marks.unfinished("interrupted")


def test_one_execution_of_several_steps_is_one_mark(capturing, model, data):
    with capturing() as marks:
        model(steps_per_execution=4).fit(data, verbose=0)
    assert marks.steps() == list(range(10))


def test_eager_training_is_marked(capturing, model, data):
    with capturing() as marks:
        model(run_eagerly=True).fit(data.take(3), verbose=0)
    assert marks.steps() == [0, 1, 2]


def test_training_on_single_batches_is_marked(capturing, model):
    fitted, x, y = model(), np.zeros((2, 3)), np.zeros((2, 2))
    with capturing() as marks:
        for _ in range(3):
            fitted.train_on_batch(x, y)
        fitted.test_on_batch(x, y)
        fitted.predict_on_batch(x)
    assert [name for name, _ in marks] == ["train"] * 3 + ["test", "predict"]
    assert marks.steps() == [0, 1, 2]


def test_a_distributed_fit_has_no_step_too_many(capturing, data):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        fitted = keras.Sequential([keras.layers.Dense(2)])
        fitted.compile("sgd", "mse")
    with capturing() as marks:
        fitted.fit(data.take(4), verbose=0)
    assert marks.steps() == [0, 1, 2, 3]
    assert len(marks) == 4


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("moment", ["begin", "end"])
def test_an_error_in_a_callback_ends_its_step_and_goes_on(capturing, model, data, error, moment):
    def fail(batch, logs):
        if batch == 2:
            raise error("stop here")

    callback = keras.callbacks.LambdaCallback(**{f"on_train_batch_{moment}": fail})
    fitted = model()
    with capturing() as marks:
        with pytest.raises(error, match="stop here"):
            fitted.fit(data, verbose=0, callbacks=[callback])
        fitted.fit(data.take(1), verbose=0)
    # A batch whose training was done before its end callback failed is a whole step.
    assert marks.steps() == [0, 1, 3] if moment == "begin" else [0, 1, 2, 3]
    assert marks.unfinished("interrupted") == (["train"] if moment == "begin" else [])


def test_an_error_in_the_data_ends_the_step(capturing, model, data):
    def broken(x, y):
        return tf.debugging.check_numerics(x / 0.0, "bad data"), y

    with capturing() as marks, pytest.raises(tf.errors.InvalidArgumentError):
        model().fit(data.map(broken), verbose=0)
    assert marks.steps() == []
    assert marks.unfinished("interrupted") == ["train"]


def test_a_capture_may_begin_and_end_inside_a_step(tmp_path, read_marks, model, data):
    recordings, runs = [], []

    def begin(batch, logs):
        if batch == 1:
            recordings.append(Recording(tmp_path, Options()).start())
        if batch == 4:
            runs.append(recordings[0].stop())

    model().fit(data.take(6), verbose=0, callbacks=[keras.callbacks.LambdaCallback(on_train_batch_begin=begin)])
    marks = read_marks(runs[0])
    assert marks.steps() == [0, 1]
    assert marks.unfinished("interrupted") == ["train"]
    assert not is_open()


def test_xprof_finds_the_steps(tmp_path, model, data):
    from xprof.convert import raw_to_tool_data

    recording = Recording(tmp_path, Options()).start()
    model().fit(data, verbose=0)
    files = [str(file) for file in recording.stop().iterdir()]
    page, _ = raw_to_tool_data.xspace_to_tool_data(files, "overview_page", {})
    (steps,) = [part for part in json.loads(page) if "steptime_ms_average" in part.get("p", {})]
    assert len(steps["rows"]) == 38  # of more than five steps XProf leaves out the first and the last


def test_results_are_the_same_to_the_last_bit(capturing, model, data):
    def trained():
        fitted = model()
        losses = fitted.fit(data, epochs=2, verbose=0).history["loss"]
        return losses, fitted.get_weights()

    losses, weights = trained()
    with capturing():
        captured_losses, captured_weights = trained()
    assert captured_losses == losses
    for captured, plain in zip(captured_weights, weights, strict=True):
        np.testing.assert_array_equal(captured, plain)


def test_callbacks_are_called_as_ever(capturing, model, data):
    def calls():
        seen = []

        def noting(name):
            return keras.callbacks.LambdaCallback(
                on_train_batch_begin=lambda batch, logs: seen.append((name, "begin", batch, sorted(logs or ()))),
                on_train_batch_end=lambda batch, logs: seen.append((name, "end", batch, sorted(logs or ()))),
                on_epoch_end=lambda epoch, logs: seen.append((name, "epoch", epoch, sorted(logs or ()))),
            )

        callbacks = [noting("first"), noting("second")]
        # By position: x, y, batch_size, epochs, verbose, callbacks.
        history = model().fit(data.take(3), None, None, 2, 0, callbacks, 0.0, data.take(1))
        return seen, callbacks, history.history, history.params

    seen, _, history, params = calls()
    with capturing():
        captured, callbacks, captured_history, captured_params = calls()
    assert captured == seen
    assert len(callbacks) == 2
    assert (captured_history, captured_params) == (history, params)


def attributes():
    return {cls: dict(vars(cls)) for cls in (CallbackList, TensorFlowTrainer, EpochIterator, keras.Model)}


@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
def test_keras_is_afterwards_as_it_was(error):
    before = attributes()
    try:
        with keras_steps():
            assert marks_steps()
            during = attributes()
            if error:
                raise error
    except (ValueError, KeyboardInterrupt):
        pass
    changed = [name for name in vars(CallbackList) if during[CallbackList][name] is not before[CallbackList][name]]
    assert len(changed) == 7
    for cls, names in attributes().items():
        assert names.keys() == before[cls].keys()
        assert all(value is before[cls][name] for name, value in names.items()), cls
    assert not marks_steps()


def test_a_wrapper_that_came_later_stays():
    original = CallbackList.on_train_batch_end
    marking = keras_steps()
    marking.__enter__()
    ours = CallbackList.on_train_batch_end
    try:
        CallbackList.on_train_batch_end = theirs = functools.partialmethod(ours)
        marking.__exit__(None, None, None)
        assert vars(CallbackList)["on_train_batch_end"] is theirs
    finally:
        CallbackList.on_train_batch_end = original
