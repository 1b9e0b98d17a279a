"""Captures that work leave an ordinary run folder; those that cannot say why, and leave nothing behind."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.profiler.internal import _pywrap_profiler

from tfprof_nb import CaptureActiveError, CaptureError, MissingDependencyError
from tfprof_nb.capture import recording as recording_module
from tfprof_nb.capture.marks import step
from tfprof_nb.capture.metrics import process_memory
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.profiler import Profiler
from tfprof_nb.capture.recording import Recording
from tfprof_nb.capture.tensorflow import is_tracing, profiler_is_started, session_class


@pytest.fixture(autouse=True)
def _nothing_stays_behind(tmp_path):
    yield
    assert not profiler_is_started()
    assert session_class() is _pywrap_profiler.ProfilerSession
    assert list(tmp_path.rglob(".capturing-*")) == []


def test_the_run_is_an_ordinary_logdir(tmp_path):
    run = Recording(tmp_path / "new" / "logs", Options()).start().stop()
    assert run.parent == tmp_path / "new" / "logs" / "plugins" / "profile"
    assert [file.suffixes for file in run.iterdir()] == [[".xplane", ".pb"]]
    assert [path.name for path in (tmp_path / "new" / "logs").iterdir()] == ["plugins"]


def test_captures_within_one_second_keep_apart_and_in_order(tmp_path):
    made = [Recording(tmp_path, Options()).start().stop() for _ in range(4)]
    assert len(set(made)) == 4
    assert sorted(made) == made


def test_marks_of_a_loop(tmp_path, read_marks):
    recording = Recording(tmp_path, Options()).start()
    for i in (7, 8):
        with step(i, "search"):
            tf.add(1, 1)
    with pytest.raises(ValueError, match="no"), step(9, "search"):
        raise ValueError("no")
    marks = read_marks(recording.stop())
    assert marks.steps("search") == [7, 8]
    assert marks.unfinished("interrupted") == ["search"]


def test_a_number_sign_in_a_steps_name_does_not_lose_the_step(tmp_path, read_marks):
    recording = Recording(tmp_path, Options()).start()
    with step(3, "epoch #1"):
        tf.add(1, 1)
    assert read_marks(recording.stop()).steps("epoch \N{FULLWIDTH NUMBER SIGN}1") == [3]


def test_a_steps_number_may_be_a_tensor_or_a_variable(tmp_path, read_marks):
    recording = Recording(tmp_path, Options()).start()
    for number in (tf.constant(1), tf.Variable(2), np.int64(3)):
        with step(number):
            tf.add(1, 1)
    assert read_marks(recording.stop()).steps() == [1, 2, 3]


def test_a_second_capture_is_refused_and_the_first_goes_on(tmp_path):
    first = Recording(tmp_path, Options()).start()
    with pytest.raises(CaptureActiveError, match="already running"):
        Recording(tmp_path, Options()).start()
    assert first.stop().is_dir()


def test_of_two_threads_one_wins(tmp_path):
    barrier, won, lost = threading.Barrier(2), [], []

    def ask():
        barrier.wait()
        try:
            won.append(Recording(tmp_path, Options()).start())
        except CaptureActiveError as error:
            lost.append(error)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 1)
    assert won[0].stop().is_dir()


def still_running(before):
    """The threads that were not there before and do not end by themselves."""
    new = [thread for thread in threading.enumerate() if thread not in before]
    for thread in new:
        thread.join(30)
    return [thread for thread in new if thread.is_alive()]


def interrupted(function):
    """The function, in the middle of which an interrupt arrives."""

    def called(*args, **kwargs):
        result = function(*args, **kwargs)
        signal.raise_signal(signal.SIGINT)
        return result

    return called


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize(
    ("owner", "name"), [(recording_module, "Profiler"), (Profiler, "begin"), (threading.Thread, "start")]
)
def test_an_interrupt_while_a_capture_begins_leaves_nothing_running(tmp_path, monkeypatch, owner, name):
    before = threading.enumerate()
    monkeypatch.setattr(owner, name, interrupted(getattr(owner, name)))
    with pytest.raises(KeyboardInterrupt):
        Recording(tmp_path, Options(), {"process_memory": process_memory()}).start()
    monkeypatch.undo()
    assert still_running(before) == []
    assert not is_tracing()
    assert Recording(tmp_path, Options()).start().stop().is_dir()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize(
    ("owner", "name"), [(Profiler, "end"), (recording_module, "gathered"), (Profiler, "wait"), (Profiler, "when_saved")]
)
def test_an_interrupt_while_a_capture_ends_leaves_nothing_behind(tmp_path, monkeypatch, owner, name):
    recording = Recording(tmp_path, Options()).start()
    monkeypatch.setattr(owner, name, interrupted(getattr(owner, name)))
    with pytest.raises(KeyboardInterrupt):
        recording.stop()
    monkeypatch.undo()
    assert Recording(tmp_path, Options()).start().stop().is_dir()


def test_someone_elses_profiler_is_left_alone(tmp_path):
    tf.profiler.experimental.start(str(tmp_path / "theirs"))
    with pytest.raises(CaptureActiveError, match="Another TensorFlow profiler"):
        Recording(tmp_path / "ours", Options()).start()
    tf.profiler.experimental.stop()
    assert list((tmp_path / "theirs").rglob("*.xplane.pb"))
    assert Recording(tmp_path / "ours", Options()).start().stop().is_dir()


def test_a_session_outside_the_module_is_left_alone(tmp_path):
    theirs = _pywrap_profiler.ProfilerSession()  # as a profiler server's
    theirs.start(str(tmp_path / "theirs"), {})
    with pytest.raises(CaptureActiveError, match="Another TensorFlow profiler"):
        Recording(tmp_path / "ours", Options()).start()
    assert len(theirs.stop()) > 0
    assert Recording(tmp_path / "ours", Options()).start().stop().is_dir()


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nowhere"])
def test_a_place_that_cannot_be_written_is_found_out_first(tmp_path, place):
    (tmp_path / "file").touch()
    with pytest.raises(CaptureError, match=r"cannot be written to .*logdir="):
        Recording(tmp_path / place, Options()).start()
    assert Recording(tmp_path, Options()).start().stop().is_dir()


def test_a_profile_that_cannot_be_saved(tmp_path):
    recording = Recording(tmp_path, Options()).start()
    (staging,) = tmp_path.glob(".capturing-*")
    (staging / "plugins").touch()  # where TensorFlow needs a folder
    with pytest.raises(CaptureError, match="could not be saved"):
        recording.stop()
    assert Recording(tmp_path, Options()).start().stop().is_dir()


@pytest.mark.parametrize("wrong", [{"host_level": 4}, {"device_level": 2}, {"python_level": -1}])
def test_wrong_options(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)


def test_without_tensorflow_the_message_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['tensorflow'] = None\n"
        "from tfprof_nb.capture.recording import Options, Recording\n"
        f"Recording({str(tmp_path)!r}, Options()).start()"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert MissingDependencyError.__name__ in done.stderr
    assert 'pip install "tfprof_nb[tensorflow]"' in done.stderr
    assert "During handling" not in done.stderr


@pytest.mark.parametrize(
    "options", [Options(host_level=1), Options(host_level=3, device_level=0), Options(python_level=1)]
)
@pytest.mark.filterwarnings("error")
def test_tensorflow_obeys_the_options(tmp_path, options):
    recording = Recording(tmp_path, options).start()
    run = recording.stop()  # a warning would fail this test
    assert options.not_obeyed(run) == ""


def test_options_that_were_not_obeyed_are_told(tmp_path):
    recording = Recording(tmp_path, Options()).start()
    run = recording.stop()
    assert Options(host_level=3, python_level=1).not_obeyed(run) == (
        "host_level=2 instead of 3, python_level=0 instead of 1"
    )
    recording.options = Options(host_level=3)
    with pytest.warns(UserWarning, match=r"TensorFlow .* recorded with host_level=2 instead of 3"):
        recording._check_options(run)
