"""Comparing real programs: a slow input pipeline and its fix, the magic, and what is no profile."""

import sys

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import tfprof_nb as tp
from tfprof_nb.pending_run import PendingRun

READING_S = 0.1  # what the slow pipeline sleeps for each batch


@pytest.fixture
def slow(captured):
    return captured("compare/slow")


@pytest.fixture
def fixed(captured):
    return captured("compare/fixed")


@pytest.fixture
def shell(monkeypatch, tmp_path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setattr(sys, "displayhook", sys.displayhook)
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    shell.run_line_magic("load_ext", "tfprof_nb")
    yield shell
    shell.run_line_magic("unload_ext", "tfprof_nb")
    InteractiveShell.clear_instance()


def test_the_speedup_is_that_of_the_wall_clock(slow, fixed, seconds):
    compared = tp.compare(slow, fixed)
    assert compared.summary["verdict"] == "faster"
    assert compared.summary["speedup"] == pytest.approx(seconds(slow) / seconds(fixed), rel=0.25)
    steps = compared.steps.set_index("metric")
    assert steps.loc["input_ms", "before"] > 1000 * READING_S / 2
    assert steps["change"].drop("step_ms").idxmin() == "input_ms"


def test_a_model_that_was_built_anew_does_the_same_work(slow, fixed):
    compared = tp.compare(slow, fixed)
    assert compared.summary["why_not_same"] == []
    assert not any("judged without" in note for note in compared.notes)
    assert "PyFunc" in set(compared.only_before["name"])
    dense = compared.ops[compared.ops["op_name"].str.contains("dense")]
    assert len(dense)
    assert not dense["only_before"].any() | dense["only_after"].any()


def test_another_batch_size_is_the_change(fixed, captured):
    found = tp.compare(fixed, captured("compare/wide")).summary
    assert found["changes"] == ["batch size: 16 before, 32 after"]
    assert found["same_work"]
    assert found["speedup_of"] == "time per example"


def test_paths_are_loaded(slow, fixed):
    by_path = tp.compare(slow.files[0].parent, [str(fixed.files[0])])
    assert by_path.summary["speedup"] == tp.compare(slow, fixed).summary["speedup"]


def test_it_shows_itself(slow, fixed):
    text = str(tp.compare(slow, fixed))
    assert text.splitlines()[0] == "before: compare/slow · after: compare/fixed"
    assert " times faster: one example took " in text.splitlines()[2]


def test_the_magic_takes_variables_and_paths(shell, slow, fixed):
    shell.push({"baseline": slow})
    with capture_output() as output:
        result = shell.run_cell(f"%tfprofile_compare baseline '{fixed.files[0]}'").result
    assert result.summary["speedup"] > 1
    assert "times faster" in output.stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nowhere baseline", r"no variable, file or folder nowhere.*%%tfprofile NAME"),
        ("baseline number", r"argument after is of type int"),
        ("none baseline", r"The list of profiles before is empty"),
        ("baseline", r"required: AFTER"),
        ("baseline unfinished", r"use it after its block ended"),
        ("baseline empty", r"empty"),
    ],
)
def test_what_cannot_be_compared(shell, slow, tmp_path, monkeypatch, line, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    shell.push({"baseline": slow, "number": 3, "none": [], "unfinished": tp.Profile(PendingRun())})
    with pytest.raises(UsageError, match=message):
        shell.run_line_magic("tfprofile_compare", line)


@pytest.mark.parametrize("bad", [None, 3, [], [None]])
def test_no_profile(slow, bad):
    with pytest.raises(tp.TfprofError, match=r"give"):
        tp.compare(slow, bad)
