"""A capture takes neither all memory nor its data with it: programs under limits, in processes of their own."""

import subprocess
import sys
import time
from textwrap import dedent

import numpy as np
import pytest
import tensorflow as tf

import tfprof_nb as tp
from tfprof_nb import _memory
from tfprof_nb.api.session import running
from tfprof_nb.capture import detail, memory_watch
from tfprof_nb.capture.memory_watch import events_bytes
from tfprof_nb.capture.tensorflow import is_tracing
from tfprof_nb.capture.trace_level import can_change_level

TRAINING = """
import resource, sys
import numpy as np, keras
from tensorflow.python.profiler import trace
import tfprof_nb as tp

model = keras.Sequential([keras.layers.Dense(16) for _ in range(4)])
model.compile("adam", "mse")
x = np.zeros((32_000, 16), "float32")
model.fit(x[:3200], x[:3200], verbose=0)
"""


def run(code, *args):
    command = [sys.executable, "-c", dedent(TRAINING) + dedent(code), *map(str, args)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("record_all", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_recording_ends_before_memory_runs_short(tmp_path, record_all):
    """With the ops of all steps, memory is full after some thousand steps, otherwise after ten times as many."""
    done = run(
        """
        import psutil
        held = psutil.Process().memory_info().vms
        resource.setrlimit(resource.RLIMIT_AS, (held + (850 << 20),) * 2)

        class UntilItEnds(keras.callbacks.Callback):
            def on_train_batch_end(self, batch, logs=None):
                self.model.stop_training = not trace.enabled()

        with tp.profile(logdir=sys.argv[1], record_all=bool(sys.argv[2:])) as p:
            model.fit(x, x, epochs=10_000, verbose=0, callbacks=[UntilItEnds()])
        print(len(p.steps.table))
        print(p)
        """,
        tmp_path,
        *["all"] * record_all,
    )
    assert done.returncode == 0, done.stderr
    steps = int(done.stdout.split()[0])
    assert steps > 100
    (note,) = [note for note in tp.load(tmp_path).overview.notes if "Recording ended" in note]
    assert "before the memory ran short" in note
    assert f"the {steps:,} steps until then: --steps {steps} fits" in note
    assert "--host-level 1" in note
    assert "Recording ended" in done.stdout


def test_a_profile_that_no_disk_takes_stays_in_memory(tmp_path):
    done = run(
        """
        def limit_of_files(size):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

        try:
            with tp.profile(logdir=sys.argv[1]) as p:
                model.fit(x, x, verbose=0)
                limit_of_files(50_000)
        except tp.CaptureError as error:
            print(error)
        else:
            sys.exit("saved")
        for more in range(2):
            try:
                tp.last().save(sys.argv[2])
            except tp.CaptureError as error:
                print(error)
        limit_of_files(resource.RLIM_INFINITY)
        saved = tp.last().save(sys.argv[2])
        assert p.files[0].parent == saved
        print(len(p.steps.table), "steps")
        with tp.profile(logdir=sys.argv[1]) as again:
            model.fit(x[:320], x[:320], verbose=0)
        print(len(again.steps.table), "steps again")
        """,
        tmp_path / "full",
        tmp_path / "free",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("It is kept in memory") == 3
    assert 'tfprof_nb.last().save("FOLDER")' in done.stdout
    assert "1000 steps\n10 steps again" in done.stdout
    p = tp.load(tmp_path / "free")
    assert (len(p.steps.table), p.data.has_lines) == (1000, True)
    assert [path.name for path in (tmp_path / "free").iterdir()] == ["plugins"]
    assert len(list((tmp_path / "full").iterdir())) == 1


@pytest.mark.parametrize(("limited", "steps"), [({}, 4), ({"steps": 5}, 5), ({"max_seconds": 100}, 8)])
def test_a_long_capture_without_a_window_is_bounded(tmp_path, monkeypatch, limited, steps):
    monkeypatch.setattr(memory_watch, "MOST_BYTES", 1)
    monkeypatch.setattr(memory_watch, "_SHORTEST_S", 0)
    taken = [0]
    monkeypatch.setattr(memory_watch, "events_bytes", lambda *_: taken[0])
    with tp.profile(logdir=tmp_path, **limited) as p:
        for number in range(8):
            with tp.step(number):
                tf.linalg.matmul(tf.ones((8, 8)), tf.ones((8, 8)))
            taken[0] = 2 * (number >= 3)
            if number == 3 and steps == 4:
                wait_until_recording_ends()
    notes = [note for note in p.overview.notes if "Recording ended" in note]
    assert len(p.steps.table) == steps
    assert (steps != 4 and not notes) or "when its events took the most memory that they may" in notes[0]


@pytest.fixture
def ops_recorded(tmp_path, monkeypatch):
    """Profile eight steps; return of how many ops were recorded, where these may take 20 MiB in all."""
    monkeypatch.setattr(detail, "can_change_level", can_change_level)
    monkeypatch.setattr(memory_watch, "MOST_BYTES_IN_WINDOWS", 20 << 20)

    def profile(step):
        with tp.profile(logdir=tmp_path) as p:
            for number in range(8):
                with tp.step(number):
                    step(tf.ones((8, 8)))
        return p.steps.table["ops_recorded"].sum()

    return profile


def takes_60_mb(kept):
    for _ in range(60):
        kept.append(np.ones(1 << 17))
        time.sleep(0.02)


def test_memory_that_tracing_takes_is_none_of_the_events(ops_recorded):
    """Else nothing would be recorded of the steps of a model whose graph is large."""
    kept = []

    @tf.function
    def squared(x):
        takes_60_mb(kept)
        return tf.linalg.matmul(x, x)

    assert ops_recorded(squared) > 3
    assert len(kept) == 60


def test_memory_that_the_first_run_of_a_graph_takes_is_none_of_the_events(ops_recorded):
    kept = []

    @tf.function
    def squared(x):
        time.sleep(0.5)  # the watch sees that it is traced
        tf.py_function(lambda: kept or takes_60_mb(kept), [], [])
        return tf.linalg.matmul(x, x)

    assert ops_recorded(squared) > 3
    assert len(kept) == 60


def test_memory_that_comes_and_goes_within_steps_is_none_of_the_events(ops_recorded):
    """A tape holds what the forward pass of an eager step made."""

    def squared(x):
        takes_60_mb([])
        return tf.linalg.matmul(x, x)

    assert ops_recorded(squared) > 3


def test_memory_that_the_program_takes_between_windows_ends_no_recording(tmp_path, monkeypatch):
    monkeypatch.setattr(detail, "can_change_level", can_change_level)
    monkeypatch.setattr(memory_watch, "MOST_BYTES_IN_WINDOWS", 100 << 20)
    monkeypatch.setattr(memory_watch, "_SHORTEST_S", 0)
    kept = []
    with tp.profile(logdir=tmp_path) as p:
        for number in range(400):
            with tp.step(number):
                tf.linalg.matmul(tf.ones((8, 8)), tf.ones((8, 8)))
                kept.append(np.ones(2 << 17))
                time.sleep(0.005)
    assert sum(array.nbytes for array in kept) > 4 * memory_watch.MOST_BYTES_IN_WINDOWS
    assert len(p.steps.table) == 400
    assert not [note for note in p.overview.notes if "Recording ended" in note]


def test_ops_that_take_too_much_are_recorded_no_more_and_marks_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(detail, "can_change_level", can_change_level)
    monkeypatch.setattr(memory_watch, "MOST_BYTES_IN_WINDOWS", 1 << 20)
    monkeypatch.setattr(memory_watch, "_SHORTEST_S", 0)
    taken = [0]
    monkeypatch.setattr(memory_watch, "events_bytes", lambda *_: taken[0])
    opened = []
    with tp.profile(logdir=tmp_path) as p:
        for number in range(500):
            with tp.step(number):
                tf.linalg.matmul(tf.ones((8, 8)), tf.ones((8, 8)))
                time.sleep(0.002)
            taken[0] = (2 << 20) * (number >= 100)
            opened.append(running()._recording._detail.is_open)
    assert any(opened[:100])
    assert not any(opened[300:])
    assert len(p.steps.table) == 500
    assert not p.steps.table["ops_recorded"].iloc[300:].any()


def wait_until_recording_ends():
    until = time.monotonic() + 60
    while is_tracing():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_the_memory_of_events_is_estimated_without_the_bursts_of_a_program():
    steady = [10**9 + 10**6 * sample for sample in range(100)]
    burst = [held + 5 * 10**9 * (sample >= 30) for sample, held in enumerate(steady)]
    assert 90e6 < events_bytes(steady, 10) < 110e6
    assert 90e6 < events_bytes(burst, 10) < 110e6
    assert events_bytes([10**12 * sample for sample in range(20)], 2) < 10**12
    assert events_bytes(steady[::-1], 10) == 0


@pytest.mark.parametrize("version", ["1", "2"])
def test_the_limit_of_a_container_counts(tmp_path, version):
    folder = tmp_path / ("memory" if version == "1" else "")
    folder.mkdir(exist_ok=True)
    limit, used = ("limit_in_bytes", "usage_in_bytes") if version == "1" else ("max", "current")
    (folder / f"memory.{limit}").write_text("1000\n")
    (folder / f"memory.{used}").write_text("700\n")
    (folder / "memory.stat").write_text("anon 5\ninactive_file 100\ntotal_inactive_file 100\n")
    assert list(_memory._free_of_container(tmp_path)) == [400]
    (folder / f"memory.{limit}").write_text("max\n")
    assert list(_memory._free_of_container(tmp_path)) == []
    assert _memory.free_bytes() > 0
