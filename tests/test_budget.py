"""Limits for profiles: what exceeds them fails a test, from Python and from the command line."""

import re
import subprocess
import sys

import pytest

import tfprof_nb as tp
from builders import XSpace
from tfprof_nb.__main__ import main


@pytest.fixture
def made(tmp_path):
    """Return a function that makes a profile of steps of some length, in ms, which wait for data for a while."""

    def make(length, *, wait=0.0, steps=20, name="logs", run="1", traced=(), mark="train", began=0):
        space = XSpace()
        if began:
            space.plane("Task Environment", profile_start_time=began)
        python = space.plane("/host:CPU").line("python")
        for number in range(steps):
            start = number * length
            python.event(mark, start_ms=start, duration_ms=length, step_num=number, _r=1)
            if wait:
                python.event("IteratorGetNext:x", start_ms=start, duration_ms=wait)
        for number, count in enumerate(traced):
            stats = {"tf_function_call": "traced-nonXla", "tracing_count": count}
            python.event("step", start_ms=number * length + 1, duration_ms=1, **stats)
        folder = tmp_path / name / "plugins" / "profile" / run
        space.write(folder / "host.xplane.pb")
        return folder

    return make


def test_within_the_budget(made):
    checked = tp.load(made(20, wait=5)).check_budget(step_ms=20.1, input_percent=25, retraced=0)
    assert checked["budget"].tolist() == ["step_ms", "input_percent", "retraced"]
    assert checked["measured"].tolist() == pytest.approx([20, 25, 0])
    assert checked["within"].all()


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"step_ms": 19.9}, "step_ms is 20.0 ms, the limit is 19.9 ms."),
        ({"input_percent": 24.9, "step_ms": 30}, "input_percent is 25.0%, the limit is 24.9%."),
        ({"retraced": 2}, "retraced is 3, the limit is 2."),
        ({"peak_bytes": 1}, "peak_bytes is not known, because the profile has no memory events."),
    ],
)
def test_over_the_budget(made, limits, said):
    profile = tp.load(made(20, wait=5, traced=(1, 2, 3, 4, 5)))
    with pytest.raises(tp.BudgetError, match=re.escape(f"Over budget: {said}")) as caught:
        profile.check_budget(**limits)
    assert isinstance(caught.value, AssertionError)
    assert all(re.search(rf"^{limit} .*(OVER|within)", str(caught.value), re.MULTILINE) for limit in limits)


def test_nothing_measured_is_not_within(made):
    with pytest.raises(tp.BudgetError, match="step_ms is not known, because the profile has no steps"):
        tp.load(made(20, steps=0)).check_budget(step_ms=1000)


@pytest.mark.parametrize("limits", [{}, {"step_ms": -1}, {"step_ms": float("nan")}])
def test_no_budget(made, limits):
    with pytest.raises(tp.TfprofError, match="Give at least one limit"):
        tp.load(made(20)).check_budget(**limits)


def test_a_real_training_is_not_retraced(captured):
    checked = captured("budget/cold_training").check_budget(retraced=0, peak_bytes=1e12, step_ms=60_000)
    assert checked.set_index("budget").loc["peak_bytes", "measured"] > 0


def test_a_function_that_is_traced_in_each_of_eight_calls_is_retraced_six_times(captured):
    """The first two tracings are free."""
    with pytest.raises(tp.BudgetError, match="retraced is 6, the limit is 5"):
        captured("budget/traced_in_each_call").check_budget(retraced=5)


def test_a_slowdown_fails_the_command(made):
    fast, slow = made(20, name="fast"), made(26, name="slow")
    command = [sys.executable, "-m", "tfprof_nb", "compare", str(fast), str(slow), "--max-slowdown"]
    done = subprocess.run([*command, "1.05"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith("1.30 times slower: one step took 20.0 ms, now 26.0 ms")
    assert done.stderr == "tfprof_nb: 1.30 times slower, the limit is 1.05.\n"
    assert subprocess.run([*command, "1.4"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(("after", "status"), [(20, 0), (23, 0), (10, 0), (30, 1)])
def test_what_is_too_small_to_tell_and_what_is_faster_passes(made, capsys, after, status):
    paths = [str(made(20, name="before")), str(made(after, name="after"))]
    assert main(["compare", *paths, "--max-slowdown", "1.01"]) == status
    assert "took 20.0 ms, now" in capsys.readouterr().out
    assert main(["compare", *paths]) == 0


def test_all_runs_of_logdirs_are_repeats(made, tmp_path, capsys):
    for number in range(5):
        made(20 + 0.01 * number, name="before", run=f"run{number}", began=10**15 + 2 * number)
        made(20.5 + 0.01 * number, name="after", run=f"run{number}", began=10**15 + 2 * number + 1)
    paths = [str(tmp_path / "before"), str(tmp_path / "after")]
    assert main(["compare", *paths, "--all-runs", "--max-slowdown", "1.01"]) == 1
    assert "5 runs of each" in capsys.readouterr().out
    assert main(["compare", *paths, "--max-slowdown", "1.01"]) == 0  # one run of each tells no 2.5%


def test_other_work_cannot_be_checked(made, capsys):
    paths = [str(made(20, name="before")), str(made(20, name="after", mark="predict"))]
    assert main(["compare", *paths, "--max-slowdown", "1.5"]) == 1
    assert "cannot be checked, as the work is not the same: kind of step: train before, predict after" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "inf", "fast"])
def test_a_limit_is_a_factor(wrong, capsys):
    with pytest.raises(SystemExit):
        main(["compare", "a", "b", "--max-slowdown", wrong])
    assert "--max-slowdown" in capsys.readouterr().err


def test_a_path_without_profile_is_said(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    for options in ([], ["--all-runs"]):
        assert main(["compare", str(tmp_path / "empty"), str(tmp_path / "nowhere"), *options]) == 1
        assert capsys.readouterr().err.startswith("tfprof_nb: ")
