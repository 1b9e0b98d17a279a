"""Our profiler server, in this process; programs of their own are in test_remote."""

import socket
import subprocess
import sys
import threading
import time

import pytest
import tensorflow as tf

import tfprof_nb as tp
from capture.ports import free_ports
from capture.programs import terminate
from tfprof_nb.capture.options import Options
from tfprof_nb.capture.recording import Recording
from tfprof_nb.capture.remote import profiler_service as rpc
from tfprof_nb.capture.server import _stops as running_captures

# A program that ends as soon as it is captured.
ENDS = """
import sys, time, tfprof_nb as tp
from tfprof_nb.capture.server import _stops as running_captures
tp.start_server(int(sys.argv[1]))
print("up", flush=True)
until = time.monotonic() + 60
while not running_captures and time.monotonic() < until:
    time.sleep(0.01)
"""


@pytest.fixture
def port():
    return free_ports(1)[0]


@pytest.fixture
def server(port):
    with tp.start_server(port) as running:
        yield running


@pytest.fixture
def ask(server):
    """Send a request to the server; what comes back is a call that is under way."""
    with rpc.open_channel(server.address) as channel:

        def send(seconds, **fields):
            request = rpc.profile_request(Options(), seconds)
            for name, value in fields.items():
                setattr(request, name, value)
            return rpc.profile_method(channel).future(request, timeout=30)

        yield send


def until_captures():
    """Wait until a capture of this process runs."""
    deadline = time.monotonic() + 20
    while not running_captures and time.monotonic() < deadline:
        time.sleep(0.005)
    assert running_captures, "no capture began"


def test_only_this_machine_can_reach_it(server, port):
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass
    elsewhere = socket.gethostbyname(socket.gethostname())
    if elsewhere.startswith("127."):
        elsewhere = "127.0.0.2"  # another address of this machine, which an open server would answer on
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((elsewhere, port), timeout=5)


def test_opened_it_answers_on_every_address(port):
    with tp.start_server(port, host="0.0.0.0"), socket.create_connection(("127.0.0.2", port), timeout=5):
        pass


def test_a_port_in_use_is_an_error(port):
    with socket.create_server(("127.0.0.1", port)), pytest.raises(tp.CaptureError, match=f"{port}: the port is in use"):
        tp.start_server(port)
    tp.start_server(port).stop()


@pytest.mark.parametrize("port", [0, -1, 65536, "6009", None])
def test_a_port_that_is_none_is_an_error(port):
    with pytest.raises(ValueError, match="from 1 to 65535"):
        tp.start_server(port)


def test_a_second_server_is_refused_and_says_where_the_first_is(server):
    with pytest.raises(tp.CaptureError, match=server.address):
        tp.start_server(free_ports(1)[0])


def test_after_stop_the_port_is_free_and_keras_as_it_was(port):
    from keras.src.callbacks.callback_list import CallbackList

    before = CallbackList.on_train_batch_begin
    server = tp.start_server(port)
    assert CallbackList.on_train_batch_begin is not before
    server.stop()
    server.stop()
    assert CallbackList.on_train_batch_begin is before
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_stopping_gives_up_the_capture_that_runs_and_frees_the_profiler(ask, server, tmp_path):
    call = ask(25.0)
    until_captures()
    server.stop()
    assert call.exception() is not None
    Recording(tmp_path, Options()).start().stop()


def test_a_program_can_end_while_it_is_captured(port, tmp_path):
    with subprocess.Popen([sys.executable, "-c", ENDS, str(port)], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "up\n"
        with pytest.raises(tp.CaptureError, match=f"{port} ended during the capture"):
            tp.capture_remote(f"127.0.0.1:{port}", 100.0, logdir=tmp_path)
        assert program.wait(60) == 0


def test_an_answer_is_a_profile_with_what_was_asked_for(ask, server):
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    call = ask(0.4)
    while not call.done():
        with tf.profiler.experimental.Trace("mine"):
            time.sleep(0.005)
    space = xplane_pb2.XSpace.FromString(call.result().xspace)
    names = {meta.name for plane in space.planes for meta in plane.event_metadata.values()}
    assert "mine" in names
    assert not call.result().empty_trace


def test_nothing_happened_is_said(ask):
    tf.function(lambda x: x + 1, jit_compile=True)(1.0)  # what XLA compiled earlier is in every profile
    assert ask(0.01).result().empty_trace


def test_while_a_cell_is_captured_a_request_is_refused(ask, tmp_path):
    recording = Recording(tmp_path, Options()).start()
    refused = ask(0.1)
    assert refused.exception().details() == "Another profiling session active."
    assert refused.code() is rpc.grpc().StatusCode.INTERNAL
    assert list(recording.stop().glob("*.xplane.pb"))
    assert ask(0.01).result().xspace


def test_while_a_request_is_served_a_cell_is_refused(ask, server, tmp_path):
    call = ask(25.0, session_id="served")
    until_captures()
    with pytest.raises(tp.CaptureActiveError):
        Recording(tmp_path, Options()).start()
    with rpc.open_channel(server.address) as channel:
        terminate(channel, "served")
    assert call.result().xspace
    Recording(tmp_path, Options()).start().stop()


def test_terminate_ends_a_capture_early_with_its_data(ask, server):
    call = ask(25.0, session_id="this one")
    until_captures()
    with rpc.open_channel(server.address) as channel:
        terminate(channel, "another")
        assert not call.done()
        terminate(channel, "this one")
    assert call.result(timeout=20).xspace


def test_a_client_that_goes_away_frees_the_profiler(ask):
    call = ask(25.0)
    until_captures()
    call.cancel()
    deadline = time.monotonic() + 20
    while (again := ask(0.01)).exception() is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert again.result().xspace


def test_tensorflows_own_client_can_ask(server, tmp_path):
    traced = threading.Thread(
        target=tf.profiler.experimental.client.trace, args=(f"grpc://{server.address}", str(tmp_path), 500)
    )
    traced.start()
    while traced.is_alive():
        with tp.step(1):
            tf.add(1, 1)
            time.sleep(0.005)
    profile = tp.load(tmp_path)
    assert profile.hosts == (server.address.replace(":", "_"),)
    assert profile.steps.summary["steps"] > 1
