"""Which runs a notebook keeps: the newest of its own, never what others wrote or what is in use."""

import subprocess
import sys

import pytest

from tfprof_nb.capture.run_folder import describe_run, keep_newest, label_run, logdir_of
from tfprof_nb.formats.label import LABEL, read_label
from tfprof_nb.runs import find_runs


@pytest.fixture
def runs(tmp_path):
    """Five runs of this notebook, oldest first."""
    folders = [tmp_path / f"plugins/profile/2026_01_02_0{hour}_00_00" for hour in range(5)]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "host.xplane.pb").write_bytes(b"12345")
        label_run(folder, "baseline")
    return folders


def left(runs):
    return [run for run in runs if run.exists()]


def test_the_oldest_go(runs):
    size = 5 + (runs[4] / LABEL).stat().st_size
    kept = keep_newest(runs[4], 2, [])
    assert left(runs) == runs[3:]
    assert (kept.run_bytes, kept.all_bytes, kept.runs) == (size, 2 * size, 2)


def test_the_new_run_and_those_in_use_stay(runs):
    keep_newest(runs[0], 1, [runs[2]])
    assert left(runs) == [runs[0], runs[2], runs[4]]


def test_what_others_wrote_stays(runs, monkeypatch):
    (runs[0] / LABEL).unlink()  # by another tool
    (runs[1] / "host.op_stats.pb").write_bytes(b"")  # by another tool, in our folder
    monkeypatch.setenv("JPY_SESSION_NAME", "other.ipynb")
    label_run(runs[2], "theirs")
    monkeypatch.undo()
    keep_newest(runs[4], 1, [])
    assert left(runs) == [runs[0], runs[1], runs[2], runs[4]]


def test_kernels_that_do_not_know_their_notebook_leave_each_others_runs(runs, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    for run in runs:
        label_run(run, "here")
    program = "import pathlib, sys; from tfprof_nb.capture.run_folder import label_run; "
    program += "label_run(pathlib.Path(sys.argv[1]), '')"
    subprocess.run([sys.executable, "-c", program, str(runs[0])], check=True)
    keep_newest(runs[4], 1, [])
    assert left(runs) == [runs[0], runs[4]]


@pytest.mark.parametrize("text", ["", "[]", '{"notebook": 3, "files": "../x"}', "[" * 100_000, "\0"])
def test_a_label_that_cannot_be_read_is_none(runs, text):
    (runs[0] / LABEL).write_text(text)
    assert read_label(runs[0]) == {}
    keep_newest(runs[4], 1, [])
    assert left(runs) == [runs[0], runs[4]]


def test_a_run_tells_its_name_and_what_it_showed(runs, tmp_path):
    describe_run(runs[0], "HIGHLY input-bound", 40)
    first, second, *_ = find_runs(tmp_path)
    assert first.label == "baseline · 2026-01-02 00:00:00 · HIGHLY input-bound · 40 steps"
    assert second.label == "baseline · 2026-01-02 01:00:00"


def test_the_log_folder_is_named_from_the_working_folder(runs, tmp_path, monkeypatch):
    assert logdir_of(runs[0]) == tmp_path.resolve()
    monkeypatch.chdir(tmp_path.parent)
    assert str(logdir_of(runs[0])) == tmp_path.name
