"""Capturing from Python: a block, a function's calls, start and stop."""

import asyncio
import functools
import inspect
import signal
import threading
import time
from pathlib import Path

import pytest
import tensorflow as tf

import tfprof_nb as tp
from tfprof_nb.api.session import running
from tfprof_nb.capture.tensorflow import is_tracing


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def three_steps():
    for i in range(3):
        with tp.step(i):
            tf.add(1, 1)


def test_the_profile_of_a_block_can_be_used_once_it_ended(tmp_path):
    with tp.profile("adding") as p:
        three_steps()
        with pytest.raises(tp.CaptureError, match="still being captured"):
            p.steps  # noqa: B018
    assert p.steps.summary["steps"] == 3
    assert p.name == "adding"
    assert tp.last() is p
    assert [file.resolve().parents[3] for file in p.files] == [tmp_path / "tfprof_logs"]


def test_a_profile_that_is_opened_again_is_called_as_it_was(tmp_path):
    with tp.profile("baseline", logdir=tmp_path) as p:
        pass
    assert tp.load(tmp_path).name == "baseline"
    assert tp.load(p.files[0].parent, name="other").name == "other"


def test_code_that_changes_folders_changes_nothing(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    with tp.profile() as p:
        monkeypatch.chdir(tmp_path / "other")
    assert [file.parents[4] for file in p.files] == [tmp_path]
    assert p.events.empty


def test_a_block_inside_its_own_block_is_refused_and_the_outer_one_goes_on():
    capture = tp.profile("outer")
    with capture as p:
        with pytest.raises(tp.CaptureActiveError), capture:
            pass
        three_steps()
    assert p.steps.summary["steps"] == 3


def test_nothing_in_the_block_is_a_profile_too():
    with tp.profile() as p:
        pass
    assert p.steps.summary["steps"] == 0
    assert p.steps.notes


def test_a_block_that_raises_leaves_its_profile_and_its_error():
    with pytest.raises(TypeError), tp.profile("broken") as p:  # noqa: PT012  (steps first, then the error)
        three_steps()
        len(3)
    assert p.steps.summary["steps"] == 3


def test_every_call_of_a_decorated_function_is_captured():
    @tp.profile("decorated")
    def add(a, b=1):
        """Add."""
        with tp.step(0):
            return int(tf.add(a, b))

    assert (add(1), tp.last().name) == (2, "decorated")
    first = tp.last()
    assert add(1, b=2) == 3
    assert tp.last() is not first
    assert tp.last().files != first.files
    assert (add.__name__, add.__doc__) == ("add", "Add.")


def test_a_decorated_function_that_calls_itself_is_refused_inside():
    @tp.profile()
    def nested():
        return nested()

    with pytest.raises(tp.CaptureActiveError):
        nested()
    with tp.profile():
        pass


def test_what_cannot_be_decorated_is_refused():
    async def later():
        await asyncio.sleep(0)

    async def one_by_one():
        yield await later()

    with pytest.raises(TypeError, match="with brackets"):
        tp.profile(three_steps)
    with pytest.raises(TypeError, match="one_by_one is a coroutine or generator function"):
        tp.profile()(one_by_one)
    with pytest.raises(TypeError, match="later is a coroutine or generator function"):
        tp.profile()(later)
    with pytest.raises(TypeError, match="is a coroutine or generator function"):
        tp.profile()(functools.partial(later))
    with pytest.raises(TypeError, match="decorates functions, not 3"):
        tp.profile()(3)
    with pytest.raises(TypeError, match="name must be text, not 3"):
        tp.profile(3)


def test_start_and_stop():
    tp.start("long", logdir="elsewhere")
    with pytest.raises(tp.CaptureActiveError):
        tp.start()
    three_steps()
    p = tp.stop()
    assert (p.name, p.steps.summary["steps"]) == ("long", 3)
    assert [file.parents[3].name for file in p.files] == ["elsewhere"]
    with pytest.raises(tp.CaptureError, match="no capture to stop"):
        tp.stop()


def test_start_takes_what_profile_takes_and_shows_it():
    assert inspect.signature(tp.start) == inspect.signature(tp.profile)
    tp.start("part", warmup=1, steps=1, metrics=True)
    three_steps()
    p = tp.stop()
    assert list(p.steps.table.index) == [1]
    assert not p.metrics.empty
    with pytest.raises(TypeError, match="unexpected keyword argument 'step'"):
        tp.start(step=3)


@pytest.mark.parametrize("wrong", [{"warmup": -1}, {"steps": 0}, {"max_seconds": -1}, {"delay_ms": "x"}])
def test_wrong_bounds_are_refused_before_anything_runs(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        tp.profile(**wrong)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        tp.start(**wrong)


def test_a_block_that_ends_before_its_warmup_did_loses_nothing():
    why = "ended after 3 steps, before the 9 warm-up steps were over"
    with pytest.warns(UserWarning, match=why), tp.profile(warmup=9) as p:
        three_steps()
    with pytest.raises(tp.CaptureError, match=why):
        p.steps  # noqa: B018


@pytest.mark.parametrize("ask", [tp.start, lambda: tp.profile().__enter__()])
def test_of_two_threads_that_ask_at_once_one_wins(ask):
    barrier, outcomes = threading.Barrier(2), []

    def try_it():
        barrier.wait()
        try:
            ask()
            outcomes.append("won")
        except tp.CaptureActiveError:
            outcomes.append("lost")

    threads = [threading.Thread(target=try_it) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["lost", "won"]
    running().finish()


@pytest.mark.usefixtures("no_collection")
def test_saving_that_is_interrupted_leaves_the_process_ready(monkeypatch, request):
    tp.start()
    capture = running()
    profiler, order = capture._recording._profiler, []
    save, wait, waited_for, may_end = profiler._save, profiler.wait, threading.Event(), threading.Event()
    request.addfinalizer(may_end.set)  # else a failure here holds up every later capture of the process

    def say_and_wait():
        waited_for.set()
        wait()

    def save_slowly(session, saved):
        save(session, threading.Event())  # recording ends here; while it goes on, an interrupt waits
        waited_for.wait()
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        may_end.wait()
        order.append("saved")
        saved.set()

    monkeypatch.setattr(profiler, "_save", save_slowly)
    monkeypatch.setattr(profiler, "wait", say_and_wait)
    with pytest.raises(KeyboardInterrupt):
        capture.finish()
    with pytest.raises(tp.CaptureError, match="An interrupt came before"):
        _ = capture.profile.steps
    threading.Timer(0.5, may_end.set).start()
    with tp.profile() as p:
        order.append("next capture")
        three_steps()
    assert order == ["saved", "next capture"]
    assert p.steps.summary["steps"] == 3
    assert list(Path("tfprof_logs").iterdir()) == [Path("tfprof_logs/plugins")]


def test_what_a_capture_has_less_than_was_asked_for_is_noted():
    with tp.profile(warmup=1, steps=5) as fewer:
        three_steps()
    assert "Only 2 of 5 requested steps were recorded: the code ended before the others." in fewer.overview.notes
    with tp.profile(steps=5, max_seconds=0.01) as brief:
        while is_tracing():
            time.sleep(0.01)
        three_steps()
    assert "max_seconds had passed" in brief.overview.notes[-1]
    with tp.profile(steps=3) as whole:
        three_steps()
    assert "asked for" not in " ".join(whole.overview.notes)
    with tp.profile(host_level=0) as without:
        three_steps()
    assert "This was recorded with host_level=0, without the host's steps and ops." in without.overview.notes


def test_before_the_first_capture_there_is_no_last(monkeypatch):
    monkeypatch.setattr("tfprof_nb.api.session._session.last", None)
    with pytest.raises(tp.ProfileNotFoundError, match="%%tfprofile"):
        tp.last()


@pytest.mark.filterwarnings("error")
def test_levels_are_obeyed():
    def events(level):
        with tp.profile(host_level=level) as p:
            three_steps()
        return len(p.events)

    assert events(1) < events(2) <= events(3)


def test_marks_of_thread_pools_are_recorded_only_on_request():
    data = tf.data.Dataset.range(64).map(lambda x: x + 1, num_parallel_calls=2).prefetch(2)

    def marks(level):
        with tp.profile(host_level=level) as p:
            for _ in data:
                pass
        assert p.events["name"].str.contains("Iterator::").any()
        return p.data.forests[0].host.marks

    assert marks(3) > 100
    assert marks(2) == 0


def test_a_large_capture_says_how_to_record_less(monkeypatch):
    with tp.profile() as p:
        tf.add(1, 1)
    again = tp.load(p.files[0])
    assert not any("--steps" in note for note in p.overview.notes)
    monkeypatch.setattr("tfprof_nb.run_data.LARGE_BYTES", p.files[0].stat().st_size)
    assert [note for note in again.overview.notes if note.startswith("This profile has ") and "--steps 10" in note]
