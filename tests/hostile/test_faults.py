"""What goes wrong around a capture and a profile: interrupts at any moment, killed processes, disks and folders."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import fsspec
import pytest
import tensorflow as tf

import tfprof_nb as tp
from fuzz.seeds import sidecar, space
from tfprof_nb.formats.files import sidecar_of
from tfprof_nb.views.pages import PAGES

MANY = pytest.param(100, marks=[pytest.mark.nightly, pytest.mark.timeout(1500)])


def steps(count=3):
    for number in range(count):
        with tp.step(number):
            tf.linalg.matmul(tf.ones((8, 8)), tf.ones((8, 8)))


def interrupted(action, within_s, seed):
    """Do something, and interrupt it at a random moment; return its result, or None if the interrupt came first."""
    over = threading.Event()

    def interrupt():
        if not over.wait(random.Random(seed).random() * within_s):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        try:
            return action()
        finally:
            over.set()
            thread.join()
    except KeyboardInterrupt:
        return None


def seconds_of(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("times", [8, MANY])
def test_interrupts_at_any_moment_of_a_capture(tmp_path, times):
    def capture():
        with tp.profile(logdir=tmp_path) as p:
            steps()
        return p

    handler, usual = signal.getsignal(signal.SIGINT), seconds_of(capture)
    outcomes = [interrupted(capture, usual * 1.2, seed) for seed in range(times)]
    assert signal.getsignal(signal.SIGINT) is handler
    assert len(capture().steps.table) == 3
    wait_until(lambda: [path.name for path in tmp_path.iterdir()] == ["plugins"])
    wait_until(lambda: not [thread for thread in threading.enumerate() if "tfprof_nb" in thread.name])
    for p in filter(None, outcomes):
        assert len(p.steps.table) == 3
    for run in tp.find_runs(tmp_path):
        assert tp.load(run.path).hosts


def wait_until(true):
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "h.xplane.pb"
    file.write_bytes(space())
    return file


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("times", [8, MANY])
def test_interrupts_at_any_moment_of_decoding_and_analysis(path, times):
    def results(p):
        return [getattr(p, name).table for name in PAGES]

    expected = results(tp.load(path))
    usual = seconds_of(lambda: results(tp.load(path)))
    for seed in range(times):
        p = interrupted(lambda: tp.load(path), usual / 5, seed) or tp.load(path)
        interrupted(lambda: results(p), usual * 1.2, seed)  # noqa: B023  (called here)
        assert all(map(type(expected[0]).equals, results(p), expected))


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("times", [20, MANY])
def test_an_interrupted_report_is_whole_or_the_one_before(path, tmp_path, times):
    p, target = tp.load(path), tmp_path / "p.html"
    before = p.to_html(target).read_text()
    usual = seconds_of(lambda: p.to_html(target))
    for seed in range(times):
        interrupted(lambda: p.to_html(target), usual * 1.2, seed)
        interrupted(lambda: p.to_chrome_trace(tmp_path / "t.json"), usual / 4, seed)
        assert len(target.read_text()) == len(before)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["h.xplane.pb", "p.html", "t.json"]
    assert len(tp.load(p.to_chrome_trace(tmp_path / "t.json")).events)


CAPTURES = """
import sys, time
import tensorflow as tf, tfprof_nb as tp

def steps(count):
    for number in range(count):
        with tp.step(number):
            tf.linalg.matmul(tf.ones((8, 8)), tf.ones((8, 8)))
        print("step", flush=True)

with tp.profile(logdir=sys.argv[1]) as p:
    steps(4)
    sys.stdin.readline()
print(p.files[0].parent, flush=True)
with tp.profile(logdir=sys.argv[1]):
    steps(1)
    time.sleep(600)
"""


def test_of_two_processes_with_one_logdir_the_next_capture_clears_what_the_killed_one_left(tmp_path):
    command = [sys.executable, "-c", CAPTURES, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert [other.stdout.readline() for _ in range(4)] == ["step\n"] * 4
            with tp.profile(logdir=tmp_path) as p:  # while the other captures
                steps(4)
            assert len({path.name for path in tmp_path.iterdir()} - {"plugins"}) == 1  # where the other one records
            print(file=other.stdin, flush=True)
            folders = {str(p.files[0].parent), other.stdout.readline().strip()}
            assert len(folders) == 2
            assert [len(tp.load(folder).steps.table) for folder in folders] == [4, 4]
            assert other.stdout.readline() == "step\n"
            left = set(tmp_path.iterdir())
            assert len(left) == 2
            assert tmp_path / "plugins" in left
        finally:
            other.kill()
    assert set(tmp_path.iterdir()) == left
    with tp.profile(logdir=tmp_path):
        steps()
    assert [path.name for path in tmp_path.iterdir()] == ["plugins"]


def test_a_logdir_that_is_removed_during_a_capture_loses_nothing(tmp_path):
    logdir = tmp_path / "logs"
    with pytest.raises(tp.CaptureError, match="kept in memory"), tp.profile(logdir=logdir):  # noqa: PT012
        steps()
        shutil.rmtree(logdir)
        logdir.touch()
    saved = tp.last().save(tmp_path / "elsewhere")
    assert len(tp.load(saved).steps.table) == 3


def test_a_logdir_that_is_removed_is_made_again(tmp_path):
    with tp.profile(logdir=tmp_path / "logs") as p:
        steps()
        shutil.rmtree(tmp_path / "logs")
    assert len(p.steps.table) == 3


def test_a_report_that_no_disk_takes_leaves_the_one_before(path, tmp_path):
    code = f"""
import resource, tfprof_nb as tp
p = tp.load({str(path)!r})
for write in (p.to_html, p.to_chrome_trace):
    write({str(tmp_path / "out.json")!r})
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    try:
        write({str(tmp_path / "out.json")!r})
    except tp.TfprofError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.count("out.json cannot be written: File too large") == 2
    assert len(tp.load(tmp_path / "out.json").events)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["h.xplane.pb", "out.json"]


def test_what_killed_processes_were_writing_is_cleared(path, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("TFPROF_NB_CACHE", raising=False)
    monkeypatch.setattr("tfprof_nb.result_cache.LEAST_BYTES", 0)
    fsspec.filesystem("memory").pipe("/killed/h.xplane.pb", space())
    code = f"""
import os, pathlib, signal, fsspec, tfprof_nb as tp
from tfprof_nb import result_cache
result_cache.LEAST_BYTES = 0
p = tp.load({str(path)!r})
fsspec.filesystem("memory").pipe("/killed/h.xplane.pb", {space()!r})
kill = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
def run(work):
    if not (child := os.fork()):
        pathlib.Path.replace = kill
        work()
    os.waitpid(child, 0)
run(lambda: p.to_html({str(tmp_path / "out" / "p.html")!r}))
run(lambda: str(tp.load({str(path)!r}).steps))
run(lambda: tp.load("memory://killed"))
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    left = [file for place in ("out", "cache") for file in (tmp_path / place).rglob(".*-*")]
    assert len(left) == 3, left
    p = tp.load(path)
    p.to_html(tmp_path / "out" / "p.html")
    assert str(tp.load("memory://killed").steps)
    assert [file for file in left if file.exists()] == []


@pytest.mark.parametrize("fate", ["gone", "cut", "other"])
def test_files_that_are_not_what_was_opened_are_not_copied(path, tmp_path, fate):
    p = tp.load(path)
    if fate == "gone":
        path.unlink()
    else:
        path.write_bytes(b"" if fate == "cut" else 2 * space())
    with pytest.raises(tp.CaptureError, match=r"h\.xplane\.pb is gone, or was changed since"):
        p.save(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_sidecar_that_no_disk_takes_is_left_out(path):
    sidecar_of(path).write_bytes(sidecar()[:100])
    p = tp.load(path)
    assert any("is damaged" in note for note in p.overview.notes)
    assert len(p.steps.table)
