"""Runs of many hosts, each reduced in another process: the same frames, whatever happens to hosts or processes."""

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import pandas as pd
import psutil
import pytest

import tfprof_nb as tp
from builders import XSpace
from many_hosts import RESULTS, assert_same, host
from tfprof_nb import BadProfileError, run_data
from tfprof_nb.hosts import processes, reading
from tfprof_nb.hosts.reduction import Reduction, _read_again
from tfprof_nb.render.progress import progress_shown_by


@pytest.fixture
def four(tmp_path):
    """A run of four hosts that differ in everything that merging could mix up."""
    for number in range(4):
        host(number).write(tmp_path / f"host-{number}.xplane.pb")
    sidecar = {"version": 1, "capture": {"notes": ["a note of the capture"]}}
    (tmp_path / "host-1.tfprof.json.gz").write_bytes(gzip.compress(json.dumps(sidecar).encode()))
    return tmp_path


def are_four(run):
    return len(run.files) > 3


@pytest.fixture
def reduced(monkeypatch):
    """Let runs of four hosts or more be reduced by two processes."""
    monkeypatch.setattr(run_data, "has_many_hosts", are_four)
    monkeypatch.setattr(processes, "_processes", lambda _tasks: 2)


@pytest.fixture
def stuck(tmp_path):
    """Return a file that keeps the process that reads it waiting."""
    os.mkfifo(tmp_path / "stuck.xplane.pb")
    return tmp_path / "stuck.xplane.pb"


def readers():
    return [child for child in psutil.Process().children() if "serve()" in " ".join(child.cmdline())]


def test_reduced_hosts_give_the_same_frames_and_are_read_once(four, monkeypatch):
    here = tp.load(four)
    assert not here.data.reduced
    with monkeypatch.context() as patched:
        patched.setattr(run_data, "has_many_hosts", are_four)
        patched.setattr(processes, "_processes", lambda _tasks: 2)
        there = tp.load(four)
    assert there.data.reduced
    before = _read_again.cache_info().misses
    assert_same(here, there)
    assert there.to_dict() == here.to_dict()
    assert _read_again.cache_info().misses == before
    assert readers() == []
    # What pages on all hosts do not need is read again when it is asked for.
    pd.testing.assert_frame_equal(there.memory.timeline, here.memory.timeline)
    pd.testing.assert_frame_equal(there.events, here.events)
    for allocator in here.memory.allocators.index:
        pd.testing.assert_frame_equal(
            there.memory.timeline_of(allocator).reset_index(drop=True),
            here.memory.timeline_of(allocator).reset_index(drop=True),
        )


def test_progress_is_shown(four, reduced, monkeypatch):
    monkeypatch.setattr(reading, "_SHOWN_AFTER_S", 0)
    shown = []
    with progress_shown_by(shown.append):
        tp.load(four)
    assert shown == [f"read {number} of 4 hosts" for number in range(1, 5)]


def test_pages_of_single_events_show_some_hosts_and_say_which(four, reduced):
    profile = tp.load(four)
    assert profile.pods.summary["slowest_host"] == "host-3"
    assert profile.trace.notes[0] == ("Of 4 hosts this shows host-3, host-1, host-0: p.host(name).trace shows another.")
    assert profile.graph.notes[0].startswith("Of 4 hosts this shows host-1:")
    assert profile.source.notes[0].startswith("Of 4 hosts this shows host-1:")
    assert "host-1" in str(profile.source)
    assert profile.host("host-0").event_count == len(tp.load(four / "host-0.xplane.pb").events)


def test_hosts_that_cannot_be_read_are_left_out(four, reduced):
    whole = (four / "host-0.xplane.pb").read_bytes()
    (four / "cut.xplane.pb").write_bytes(whole[:-1])
    (four / "empty.xplane.pb").write_bytes(b"")
    (four / "gone.xplane.pb").symlink_to(four / "nowhere")
    profile = tp.load(four)
    assert profile.hosts == tuple(f"host-{number}" for number in range(4))
    for name in ("cut", "empty", "gone"):
        assert sum(f"{name}.xplane.pb was left out" in note for note in profile.overview.notes) == 1
    for number in range(4):
        (four / f"host-{number}.xplane.pb").write_bytes(b"")
    with pytest.raises(BadProfileError, match="cut short"):
        tp.load(four)


def test_a_process_that_ends_costs_only_its_host(four, stuck):
    tasks = [(stuck, "stuck"), *((four / f"host-{number}.xplane.pb", f"host-{number}") for number in range(3))]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(processes, "_processes", lambda _tasks: 2)
        outcomes = processes.reduced_in_processes(tasks)
        ended = dict(next(outcomes) for _ in range(3))
        for reader in readers():
            reader.kill()
        ended |= dict(outcomes)
    assert [isinstance(ended[place], Reduction) for place in range(4)] == [False, True, True, True]
    assert ended[0] == "The process that read it ended (exit status -9): its memory may have run short."
    assert readers() == []


def test_an_interrupt_leaves_no_process(stuck, monkeypatch):
    monkeypatch.setattr(processes, "_processes", lambda _tasks: 2)

    def interrupt():
        while len(readers()) < 2:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        list(processes.reduced_in_processes([(stuck, "a"), (stuck, "b")]))
    assert readers() == []


def test_an_interrupt_while_processes_start_leaves_none(stuck, monkeypatch):
    started = processes._started

    def start():
        process = started()
        os.kill(os.getpid(), signal.SIGINT)
        return process

    monkeypatch.setattr(processes, "_processes", lambda _tasks: 2)
    monkeypatch.setattr(processes, "_started", start)
    with pytest.raises(KeyboardInterrupt):
        list(processes.reduced_in_processes([(stuck, "a"), (stuck, "b")]))
    assert readers() == []


def test_110_hosts_open_with_100_files_at_a_time(tmp_path):
    space = XSpace()
    space.plane("/host:CPU").line("python").event("train", duration_us=9, step_num=1, _r=1)
    for number in range(110):
        space.write(tmp_path / f"host-{number:03}.xplane.pb")
    code = f"import tfprof_nb as tp; p = tp.load({str(tmp_path)!r}); print(len(p.hosts), p.data.reduced); p.steps"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)),
    )
    assert done.stdout == "110 True\n", done.stderr


def test_what_is_told_of_many_hosts_is_short(four, reduced):
    profile = tp.load(four)
    assert set(RESULTS) >= {"steps", "pods"}
    assert len(profile.to_markdown()) < 16_000
