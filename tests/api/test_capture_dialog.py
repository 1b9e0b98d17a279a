"""The dialog without a browser; tests/browser has it in JupyterLab."""

import time

import pytest
import tensorflow as tf

import tfprof_nb as tp
from capture.ports import free_ports


@pytest.fixture
def dialog(tmp_path):
    (port,) = free_ports(1)
    with tp.start_server(port) as server:
        yield tp.CaptureDialog(server.address, 0.3, logdir=tmp_path)


def finished(dialog):
    thread = dialog.capture()
    while thread.is_alive():
        with tp.step(0):
            tf.add(1, 1)
    return dialog._status.value


def test_what_is_set_is_what_is_captured(dialog, tmp_path):
    dialog.host_level.value, dialog.delay_ms.value = 1, 300
    pressed_ns = time.time_ns()
    assert f"Saved in {tmp_path}" in finished(dialog)
    assert dialog.profile is tp.last()
    assert dialog.profile.data.forests[0].host.began_ns >= pressed_ns + 300_000_000
    assert dialog.profile.steps.summary["steps"] > 0
    assert not dialog.profile.events["name"].str.contains("Add").any()  # ops are of level 2
    assert [run.path.parents[2] for run in tp.find_runs(tmp_path)] == [tmp_path]


def test_the_button_can_be_pressed_again_after_an_error(dialog):
    good, dialog.addresses.value = dialog.addresses.value, "nonsense here"
    assert "is not the address of a worker" in finished(dialog)
    assert dialog.profile is None
    assert not dialog.capture_button.disabled
    assert dialog.cancel_button.disabled
    dialog.addresses.value = good
    assert "Saved in" in finished(dialog)


def test_several_workers_as_capture_remote_takes_them():
    assert tp.CaptureDialog(["a:1", "b:2"]).addresses.value == "a:1, b:2"


def test_in_a_terminal_it_says_what_to_use(dialog, capsys):
    dialog._ipython_display_()
    assert "tfprof_nb.capture_remote(addresses)" in capsys.readouterr().out


def test_what_it_captures_is_written_to_a_bucket(dialog):
    dialog._logdir = "memory://dialog"
    assert "Saved in memory://dialog" in finished(dialog)
    assert tp.load("memory://dialog").steps.summary["steps"] == dialog.profile.steps.summary["steps"] > 0
