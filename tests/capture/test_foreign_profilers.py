"""Code that runs a profiler of its own inside a capture: it works as ever, and its profile is the one that is kept."""

import keras
import pytest
import tensorflow as tf

from tfprof_nb.capture.marks import step
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.recording import NothingRecordedError, Recording
from tfprof_nb.capture.tensorflow import profiler_is_started, session_class
from tfprof_nb.capture.window import Window
from tfprof_nb.decode.sidecar import read_sidecar


@pytest.fixture(autouse=True)
def _as_it_was(tmp_path):
    before = session_class()
    yield
    assert session_class() is before
    assert not profiler_is_started()
    assert list(tmp_path.rglob(".capturing-*")) == []
    Recording(tmp_path / "afterwards", Options()).start().stop()


def loop(numbers):
    for i in numbers:
        with step(i):
            tf.add(1, 1)


def with_start_and_stop(folder):
    loop([0])
    tf.profiler.experimental.start(str(folder))
    loop([1, 2])
    tf.profiler.experimental.stop()
    loop([3])


def with_a_block(folder):
    loop([0])
    with tf.profiler.experimental.Profile(str(folder)):
        loop([1, 2])
    loop([3])


def with_a_summary(folder):
    loop([0])
    with tf.summary.create_file_writer(str(folder)).as_default():
        tf.summary.trace_on(profiler=True, profiler_outdir=str(folder))
        loop([1, 2])
        tf.summary.trace_export("name", step=0)
    loop([3])


def notes(run):
    (file,) = run.glob("*.xplane.pb")
    return read_sidecar(file).notes


@pytest.mark.parametrize("recipe", [with_start_and_stop, with_a_block, with_a_summary])
def test_their_profile_is_kept_and_a_note_says_so(tmp_path, read_marks, recipe):
    recording = Recording(tmp_path / "ours", Options()).start()
    recipe(tmp_path / "theirs")
    run = recording.stop()
    assert (tmp_path / "theirs") in run.parents
    assert read_marks(run).steps() == [1, 2]
    (note,) = notes(run)
    assert str(run) in note
    assert "ran a profiler of its own" in note
    assert list((tmp_path / "ours").rglob("*.pb")) == []


def test_the_tensorboard_callback_gets_all_the_batches_that_it_asked_for(tmp_path, read_marks, model, data):
    recording = Recording(tmp_path / "ours", Options()).start()
    callback = keras.callbacks.TensorBoard(tmp_path / "theirs", profile_batch=(10, 15))
    model().fit(data, verbose=0, callbacks=[callback])
    run = recording.stop()
    marks = read_marks(run)
    assert marks.steps("Profiled batch") == marks.steps() == list(range(9, 15))  # both count from 0 there
    assert (tmp_path / "theirs") in run.parents


@pytest.mark.parametrize("batches", [0, 500])
def test_a_tensorboard_callback_that_profiles_nothing_changes_nothing(tmp_path, read_marks, model, data, batches):
    recording = Recording(tmp_path / "ours", Options()).start()
    callback = keras.callbacks.TensorBoard(tmp_path / "theirs", profile_batch=batches)
    model().fit(data, verbose=0, callbacks=[callback])
    run = recording.stop()
    assert (tmp_path / "ours") in run.parents
    assert read_marks(run).steps() == list(range(40))
    assert notes(run) == []


def test_of_several_the_last_is_shown(tmp_path, read_marks):
    recording = Recording(tmp_path / "ours", Options()).start()
    for folder in ("first", "second"):
        with_a_block(tmp_path / folder)
    run = recording.stop()
    assert (tmp_path / "second") in run.parents
    assert "It saved 2 profiles; this is the last." in notes(run)[0]
    assert list((tmp_path / "first").rglob("*.xplane.pb"))


def test_one_that_saves_nothing_leaves_ours(tmp_path, read_marks):
    recording = Recording(tmp_path / "ours", Options()).start()
    loop([0])
    tf.profiler.experimental.start(str(tmp_path / "theirs"))
    tf.profiler.experimental.stop(save=False)
    loop([1])
    run = recording.stop()
    assert read_marks(run).steps() == [0]
    assert "which had saved nothing when the capture ended" in notes(run)[0]


def test_one_that_still_runs_at_the_end_goes_on(tmp_path, read_marks):
    recording = Recording(tmp_path / "ours", Options()).start()
    tf.profiler.experimental.start(str(tmp_path / "theirs"))
    loop([0])
    assert (tmp_path / "ours") in recording.stop().parents
    loop([1])
    tf.profiler.experimental.stop()
    (run,) = tmp_path.glob("theirs/plugins/profile/*")
    assert read_marks(run).steps() == [0, 1]


def test_after_a_window_ours_is_whole_and_kept(tmp_path, read_marks):
    recording = Recording(tmp_path / "ours", Options(), window=Window(steps=1)).start()
    with_a_block(tmp_path / "theirs")
    run = recording.stop()
    assert read_marks(run).steps() == [0]
    assert "also ran a profiler of its own" in notes(run)[0]
    assert list((tmp_path / "theirs").rglob("*.xplane.pb"))


def test_before_a_window_theirs_is_kept(tmp_path, read_marks):
    recording = Recording(tmp_path / "ours", Options(), window=Window(warmup=2)).start()
    with_a_block(tmp_path / "theirs")
    assert read_marks(recording.stop()).steps() == [1, 2]


def test_before_a_window_and_without_saving_there_is_nothing(tmp_path):
    recording = Recording(tmp_path / "ours", Options(), window=Window(delay_ms=60_000)).start()
    tf.profiler.experimental.start(str(tmp_path / "theirs"))
    tf.profiler.experimental.stop(save=False)
    with pytest.raises(NothingRecordedError, match="had saved nothing"):
        recording.stop()


def test_stopping_a_profiler_that_was_not_started_is_the_error_that_it_is_without_us(tmp_path, read_marks):
    recording = Recording(tmp_path, Options()).start()
    with pytest.raises(tf.errors.UnavailableError):
        tf.profiler.experimental.stop()
    loop([0])
    assert read_marks(recording.stop()).steps() == [0]
