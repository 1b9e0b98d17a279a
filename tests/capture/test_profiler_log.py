"""Only the profiler's own log lines are dropped."""

import os

import pytest

from tfprof_nb.capture.profiler import no_profiler_log

OWN = (
    b"I0000 00:00:1795268907.156262    5312 profiler_session.cc:117] Profiler session initializing.\n"
    b"2024-03-01 10:00:00.1: I tensorflow/tsl/profiler/rpc/save_profile.cc:150] Collecting XSpace to repository: x\n"
)


def test_lines_of_others_come_through_in_order(capfd):
    with no_profiler_log():
        os.write(2, b"first\n" + OWN + b"W0000 profiler_session.cc:90] Failed\nlast")
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == "first\nW0000 profiler_session.cc:90] Failed\nlast"


def test_after_an_error_stderr_is_back(capfd):
    with pytest.raises(KeyboardInterrupt), no_profiler_log():
        raise KeyboardInterrupt
    os.write(2, b"here")
    assert capfd.readouterr().err == "here"
