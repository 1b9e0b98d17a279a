"""Pages that take long to compute wait until the kernel is idle, and never hold up the next cell."""

import queue
import time

import pytest
from jupyter_client.manager import start_new_kernel

pytestmark = [pytest.mark.tensorflow, pytest.mark.kernel]

SETUP = """
%load_ext tfprof_nb
import threading, time, tensorflow as tf, tfprof_nb as tp
from tfprof_nb.render.idle import when_idle
from tfprof_nb.views import dashboard
dashboard._MANY_EVENTS = 0
log = []
def endless():
    log.append("begins")
    try:
        while True:
            sum(range(1000))
    finally:
        log.append("stops")
def workers():
    return [thread.name for thread in threading.enumerate() if thread.name == "tfprof_nb pages"]
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path_factory.mktemp("kernel")))
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture
def client(kernel):
    run(kernel, SETUP)
    return kernel


def run(client, code):
    """Run a cell; return its messages."""
    messages = []
    reply = client.execute_interactive(code, timeout=120, output_hook=messages.append)
    assert reply["content"]["status"] == "ok", reply["content"]["traceback"]
    return messages


def texts(messages):
    return [message["content"]["data"]["text/plain"] for message in messages if "display_data" in message["msg_type"]]


def test_the_static_form_gets_its_other_pages_when_the_kernel_is_idle(client):
    shown = run(client, "%%tfprofile base\nfor i in range(3):\n    with tp.step(i): tf.add(i, 1)")
    assert any("── Answer" in text for text in texts(shown))
    assert not any("── Memory" in text for text in texts(shown))
    cell = next(message for message in shown if "display_data" in message["msg_type"])
    later = []
    while not texts(later):
        later.append(client.get_iopub_msg(timeout=60))
    assert "── Memory" in texts(later)[0]
    assert later[-1]["msg_type"] == "update_display_data"
    assert later[-1]["parent_header"]["msg_id"] == cell["parent_header"]["msg_id"]
    assert later[-1]["content"]["transient"] == cell["content"]["transient"]
    with pytest.raises(queue.Empty):
        client.get_iopub_msg(timeout=1)


def test_a_cell_stops_it_and_it_begins_again_afterwards(client):
    run(client, "when_idle(endless)")
    for times in (1, 2):
        while True:
            (printed,) = [m for m in run(client, "print(log)") if m["msg_type"] == "stream"]
            if printed["content"]["text"].count("begins") >= times:
                break
            time.sleep(1)  # idle for a while
        run(client, "while workers(): time.sleep(0.01)")
        run(client, "assert log == ['begins', 'stops'] * (len(log) // 2), log")
