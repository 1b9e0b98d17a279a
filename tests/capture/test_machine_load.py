"""The load of other programs, measured beside a capture."""

import subprocess
import sys
import time

import psutil
import pytest

from tfprof_nb.capture.machine_load import machine_load
from tfprof_nb.decode.sections.machine import read_other_load

BUSY = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"


def spin(seconds):
    """Use a processor for so long, of its own time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_the_own_time_is_not_that_of_others():
    with machine_load() as gather:
        spin(0.5)
    section = gather()
    assert section["own_s"] >= 0.45
    assert section["busy_s"] >= section["own_s"] - 0.1  # Linux counts in units of 10 ms
    assert section["seconds"] >= 0.5
    assert section["processors"] <= psutil.cpu_count()


def test_another_program_is_seen():
    """It runs alone while this one sleeps, so it gets a processor, or others have it."""
    with subprocess.Popen([sys.executable, "-c", BUSY]) as other:
        try:
            with machine_load() as gather:
                time.sleep(1)
        finally:
            other.kill()
    section = gather()
    assert section["busy_s"] - section["own_s"] > 0.5
    assert 0.4 / section["processors"] < read_other_load(section) <= 1


def test_a_machine_that_tells_nothing(monkeypatch):
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu: 1 / 0)
    with machine_load() as gather:
        pass
    assert gather() == {}
    assert read_other_load(gather()) != read_other_load(gather())  # NaN


@pytest.mark.parametrize(("busy", "own", "share"), [(12.0, 4.0, 0.4), (3.0, 4.0, 0.0), (40.0, 4.0, 1.0)])
def test_the_share_of_others(busy, own, share):
    section = {"seconds": 10.0, "processors": 2, "busy_s": busy, "own_s": own}
    assert read_other_load(section) == pytest.approx(share)
