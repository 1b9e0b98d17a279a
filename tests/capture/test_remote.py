"""Capturing real programs that train in processes of their own, over real gRPC on loopback."""

import json
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import fsspec
import pytest
import tensorflow as tf

import tfprof_nb as tp
from builders import XSpace
from capture.ports import free_ports
from capture.programs import Program, terminate
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.remote import capture_workers
from tfprof_nb.capture.remote import profiler_service as rpc


@contextmanager
def strategy_of_two(logs):
    """Two processes of one MultiWorkerMirroredStrategy, and the ports of its own gRPC servers."""
    *ours, first, second = free_ports(4)
    cluster = {"worker": [f"127.0.0.1:{port}" for port in (first, second)]}
    configs = [json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}}) for index in range(2)]
    workers = [
        Program.start("distributed", [port], logs / f"{port}.log", TF_CONFIG=config)
        for port, config in zip(ours, configs, strict=True)
    ]
    try:
        for worker in workers:
            worker.wait_until_it_trains()
        yield workers, cluster["worker"]
    finally:
        for worker in workers:
            worker.end()


@pytest.fixture
def capture(tmp_path):
    """Capture into a folder of the test, without retries unless it asks for them."""

    def remote(addresses, seconds=0.5, **options):
        return tp.capture_remote(addresses, seconds, logdir=tmp_path, **{"retries": 0, **options})

    yield remote
    assert list(tmp_path.rglob(".capturing-*")) == []


# TensorFlow 2.21 sometimes crashes a worker whose collectives are captured, by its own server as by ours (seen in
# SplitEventTracker::FindStartAndMerge). Only after such a crash, a death by a signal, the next attempt is tested.
def test_the_workers_of_a_strategy_are_one_profile_with_their_steps_aligned(capture, tmp_path):
    for _ in range(3):
        with strategy_of_two(tmp_path) as (workers, own_servers), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # One is asked at our server, the other at the strategy's own.
            addresses = [workers[0].addresses[0], own_servers[1]]
            profile = capture(",".join(addresses), seconds=1.0, name="both")
            if len(profile.hosts) == 2:
                break
            assert any((worker.process.poll() or 0) < 0 for worker in workers), "a worker was lost that lives"
    assert profile.name == "both"
    assert profile.hosts == tuple(sorted(address.replace(":", "_") for address in addresses))
    assert tp.last() is profile
    assert tp.find_runs(tmp_path)[-1].hosts == profile.hosts
    assert profile.steps.summary["source"] == "marked"

    steps = profile.pods.table
    assert len(steps) == 2 * profile.pods.summary["steps"] > 4
    # The strategy's all-reduce holds the workers together: what one calls step n the other calls step n too.
    names = steps["step_name"].unstack("host")
    assert (names.nunique(axis=1) == 1).all()


@pytest.mark.parametrize("server", [0, 1], ids=["ours", "TensorFlow's"])
def test_a_fit_has_its_steps_and_the_levels_are_obeyed(program, capture, server):
    address = f"grpc://{program.addresses[server]}"
    few, more = (capture(address, host_level=level) for level in (1, 2))
    assert more.steps.summary["source"] == "marked"
    assert set(more.steps.table["phase"]) == {"train"}
    per_step = [len(profile.events) / profile.steps.summary["steps"] for profile in (few, more)]
    assert per_step[0] < per_step[1]


def test_a_worker_that_is_down_costs_only_its_own_data(program, capture):
    (down,), up = free_ports(1), program.addresses[0]
    with pytest.warns(UserWarning, match=rf"127.0.0.1:{down} cannot be reached: is the program running there"):
        profile = capture([f"127.0.0.1:{down}", up])
    assert profile.hosts == (up.replace(":", "_"),)
    assert profile.steps.summary["steps"] > 2


def test_a_name_that_is_none_is_said(capture):
    with pytest.raises(tp.CaptureError, match=r"nowhere.invalid:1 cannot be reached: .*start_server"):
        capture("nowhere.invalid:1")


def test_when_all_are_down_the_error_names_each_and_nothing_is_written(capture, tmp_path):
    ports = free_ports(2)
    with pytest.raises(tp.CaptureError) as raised:
        capture([f"127.0.0.1:{port}" for port in ports], retries=3)
    assert [f"127.0.0.1:{port} cannot be reached" in str(raised.value) for port in ports] == [True, True]
    assert list(tmp_path.iterdir()) == []


def test_a_busy_worker_is_asked_again(program, capture):
    ours, others = program.addresses  # two servers of one program: it has one profiler
    with rpc.open_channel(others) as channel, rpc.open_channel(ours) as probe:
        rival = until_it_captures(channel, probe)
        with pytest.raises(tp.CaptureError, match=f"{ours} is already being profiled: wait"):
            capture(ours)
        assert not rival.done()
        threading.Timer(0.5, terminate, [channel, "rival"]).start()
        assert capture(ours, retries=100).steps.summary["steps"] > 2
        assert rival.result().xspace


def until_it_captures(channel, probe):
    """Ask for a long capture at one server of a program, and wait until the other server finds it busy."""
    request = rpc.profile_request(Options(), 60.0)
    request.session_id = "rival"
    while True:
        rival = rpc.profile_method(channel).future(request, timeout=100)
        while not rival.done():
            briefly = rpc.profile_method(probe).future(rpc.profile_request(Options(), 0.01), timeout=30)
            if briefly.exception() is not None:
                assert briefly.details() == rpc.BUSY
                return rival
        assert rival.details() == rpc.BUSY  # it came in the middle of a brief one


def test_a_worker_that_does_nothing_is_named(capture):
    (port,) = free_ports(1)
    with tp.start_server(port), pytest.warns(UserWarning, match=f"{port} recorded no events"):
        assert capture(f"127.0.0.1:{port}", 0.01).hosts == (f"127.0.0.1_{port}",)


@contextmanager
def serving(*handlers, port=None):
    """Serve over gRPC what is no profiler of ours; gives the address."""
    port = port or free_ports(1)[0]
    server = rpc.grpc().server(ThreadPoolExecutor(1), handlers=handlers, options=[("grpc.max_send_message_length", -1)])
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


def test_a_port_of_something_else_is_said(capture):
    with serving() as address, pytest.raises(tp.CaptureError, match="is not a profiler server: check the port"):
        capture(address)


def answering(response):
    """A handler of requests for a profile, which answers with what a function returns."""
    method = rpc.grpc().unary_unary_rpc_method_handler(
        lambda *_: response(),
        request_deserializer=rpc.MESSAGES["ProfileRequest"].FromString,
        response_serializer=rpc.MESSAGES["ProfileResponse"].SerializeToString,
    )
    return rpc.grpc().method_handlers_generic_handler(rpc.SERVICE, {"Profile": method})


def recorded(name):
    """What a worker answers in which one op ran."""
    space = XSpace()
    space.plane("/host:CPU").line("python").event(name, duration_us=5)
    return rpc.MESSAGES["ProfileResponse"](xspace=space.to_bytes())


def test_a_worker_that_comes_late_is_asked_until_it_is_there(capture):
    """The second worker starts once the first was asked twice; nothing ran in the first until then."""
    (late,), asked = free_ports(1), []
    with ExitStack() as servers:

        def first():
            asked.append(1)
            if len(asked) == 1:
                return rpc.MESSAGES["ProfileResponse"](empty_trace=True)
            servers.enter_context(serving(answering(lambda: recorded("second:Op")), port=late))
            return recorded("first:Op")

        early = servers.enter_context(serving(answering(first)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            profile = capture([early, f"127.0.0.1:{late}"], 0.1, retries=100)
    assert len(profile.hosts) == 2
    assert set(profile.events["name"]) == {"first:Op", "second:Op"}


def test_a_capture_is_written_to_a_bucket(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    bucket = fsspec.filesystem("memory")
    with serving(answering(lambda: recorded("first:Op"))) as address:
        profile = tp.capture_remote(address, 0.1, logdir="memory://bucket/logs")
        (file,) = bucket.find("/bucket/logs")
        assert file.startswith("/bucket/logs/plugins/profile/")
        assert set(profile.events["name"]) == set(tp.load("memory://bucket/logs").events["name"]) == {"first:Op"}
        bucket.rm("/bucket", recursive=True)
        with pytest.raises(tp.TfprofError, match="nowhere://bucket cannot be opened"):
            tp.capture_remote(address, 0.1, logdir="nowhere://bucket")
        monkeypatch.setattr(type(bucket), "put_file", lambda *_, **__: (_ for _ in ()).throw(PermissionError("403")))
        with pytest.warns(UserWarning, match=r"Nothing can be written to memory://bucket.*403.*Save the profile else"):
            profile = tp.capture_remote(address, 0.1, logdir="memory://bucket")
    assert profile.save(tmp_path / "elsewhere").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("cache", "elsewhere")] == []


def test_a_profile_larger_than_grpc_likes_arrives_whole(tmp_path):
    xspace = b"x" * (9 << 20)  # gRPC's usual limit is 4 MB
    with serving(answering(lambda: rpc.MESSAGES["ProfileResponse"](xspace=xspace))) as address:
        run = capture_workers(address, 0.1, tmp_path, Options(), retries=0, report=lambda _: None)
    (file,) = run.folder.iterdir()
    assert file.read_bytes() == xspace


def test_without_grpc_it_says_what_to_install(capture, monkeypatch):
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(tp.MissingDependencyError, match="pip install grpcio"):
        capture("127.0.0.1:1")
    with pytest.raises(tp.MissingDependencyError, match="pip install grpcio"):
        tp.start_server(free_ports(1)[0])


@pytest.mark.parametrize(
    "wrong", [{"seconds": 0}, {"seconds": "2"}, {"retries": -1}, {"retries": "3"}, {"host_level": 4}, {"delay_ms": -1}]
)
def test_numbers_out_of_range_are_refused(capture, wrong):
    with pytest.raises(ValueError, match="must be"):
        capture("127.0.0.1:1", **wrong)


def test_an_interrupt_leaves_nothing_behind_and_the_worker_free(program, capture, tmp_path):
    address = program.addresses[0]

    def interrupt(progress):
        if progress.share > 0.0001:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # the capture itself would take longer than a test may
        capture_workers(address, 3000.0, tmp_path, Options(), retries=0, report=interrupt)
    assert list(tmp_path.iterdir()) == []
    assert capture(address, retries=10).hosts


def test_workers_record_after_the_delay(program, capture, tmp_path):
    asked_ns = time.time_ns()
    profile = capture(program.addresses[0], delay_ms=1500, retries=10)
    assert profile.data.forests[0].host.began_ns - asked_ns >= 1.5e9
    said = []
    capture_workers(program.addresses[0], 0.2, tmp_path, Options(), retries=10, report=said.append, delay_ms=500)
    assert any(progress.text.endswith("s before recording") for progress in said)


def test_progress_says_what_it_waits_for(program, tmp_path):
    said = []
    capture_workers(program.addresses[0], 0.5, tmp_path, Options(), retries=0, report=said.append)
    assert said[0].text == "looking for the workers"
    assert any(progress.text.endswith("of 0.5 s") for progress in said)
    shares = [progress.share for progress in said]
    assert shares == sorted(shares)


def test_tensorflows_client_keeps_silent_where_ours_speaks(program, tmp_path):
    """Why requests are sent by ourselves: a worker that is down is not even mentioned."""
    (down,) = free_ports(1)
    addresses = f"grpc://127.0.0.1:{down},grpc://{program.addresses[0]}"
    tf.profiler.experimental.client.trace(addresses, str(tmp_path), 200)
    assert len(list(tmp_path.rglob("*.xplane.pb"))) == 1


def test_a_worker_that_is_killed_meanwhile_costs_only_its_own_data(program, capture):
    """The last test: it ends the program. The worker that lives on is this process."""
    dies, (port,) = program.addresses[0], free_ports(1)

    def kill_while_it_is_captured():
        while not program.is_connected():
            time.sleep(0.01)
        time.sleep(0.3)  # a part of its capture
        program.process.kill()

    killer = threading.Thread(target=kill_while_it_is_captured, daemon=True)
    with tp.start_server(port) as lives, steps_meanwhile(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        killer.start()
        profile = capture([dies, lives.address], seconds=2.0)
    assert profile.hosts == (f"127.0.0.1_{port}",)
    assert profile.steps.summary["steps"] > 2
    (warning,) = [str(one.message) for one in warned if one.filename == __file__]
    assert f"{dies} ended during the capture" in warning


@contextmanager
def steps_meanwhile():
    """Train in a thread while the block runs."""
    over = threading.Event()

    def train():
        number = 0
        while not over.wait(0.01):
            with tp.step(number):
                tf.add(1, 1)
            number += 1

    thread = threading.Thread(target=train)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
