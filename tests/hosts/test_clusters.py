"""Hosts that are read by a Dask cluster: a scheduler and two workers, each a process with an address of its own."""

import os
import signal
import sys
import time

import pytest

import tfprof_nb as tp
from many_hosts import assert_same, host
from tfprof_nb import MissingDependencyError
from tfprof_nb.hosts import reading
from tfprof_nb.hosts.reduction import Reduction


@pytest.fixture(scope="module", autouse=True)
def distributed():
    return pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client(distributed):
    import dask

    # A shell that was reset leaves __main__ without what multiprocessing reads of it.
    if not hasattr(main := sys.modules["__main__"], "__spec__"):
        main.__spec__ = None
    # The first death of a worker counts; a cluster's own default is the fourth.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "logs/plugins/profile/2026_01_02_03_04_05"
    for number in range(3):
        host(number).write(folder / f"host-{number}.xplane.pb")
    return folder


@pytest.mark.parametrize("url", ["{}", "file://{}"])
def test_workers_give_the_same_frames(client, run, url, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert len(client.scheduler_info()["workers"]) == 2
    profile = tp.load(url.format(run), client=client)
    assert profile.data.reduced
    assert not list((tmp_path / "cache").rglob("*.xplane.pb"))
    assert_same(tp.load(run), profile)
    assert profile.host("host-1").event_count == tp.load(run / "host-1.xplane.pb").event_count


def test_hosts_that_no_worker_can_read_are_left_out(client, run):
    (run / "cut.xplane.pb").write_bytes((run / "host-0.xplane.pb").read_bytes()[:-1])
    profile = tp.load(run, client=client)
    assert profile.hosts == ("host-0", "host-1", "host-2")
    assert sum("cut.xplane.pb was left out" in note for note in profile.overview.notes) == 1


def test_a_worker_that_dies_costs_its_host(client, run):
    os.mkfifo(run / "stuck.xplane.pb")  # keeps the worker that reads it waiting
    hosts = [(run / name, name, ()) for name in ("stuck.xplane.pb", "host-0.xplane.pb", "host-1.xplane.pb")]
    outcomes = reading.reduced_by_client(client, hosts)
    ended = dict(next(outcomes) for _ in range(2))
    processes = client.run(os.getpid)
    (stuck,) = (worker for worker, tasks in client.processing().items() if tasks)
    os.kill(processes[stuck], signal.SIGKILL)
    ended |= dict(outcomes)
    assert [isinstance(ended[place], Reduction) for place in range(3)] == [False, True, True]
    assert ended[0] == "The worker that read it ended (KilledWorker)."
    while len(client.scheduler_info()["workers"]) < 2:  # its nanny starts another
        time.sleep(0.1)


def test_without_workers_what_is_left_is_said(distributed, run):
    with (
        distributed.LocalCluster(
            n_workers=0, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
        pytest.MonkeyPatch.context() as patched,
    ):
        patched.setattr(reading, "_WITHOUT_WORKERS_S", 0)
        with pytest.raises(tp.TfprofError, match="The cluster has no workers any more"):
            tp.load(run, client=client)


def test_without_dask_an_error_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'tfprof_nb\[dask\]'"):
        tp.load(run, client=object())
