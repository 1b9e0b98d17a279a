"""The object that people hold: loading, hosts, what an unfinished one says, reports."""

import gzip
import json
import re

import pytest

import tfprof_nb as tp
from builders import XSpace
from tfprof_nb.formats.marks import OPS_END
from tfprof_nb.pending_run import PendingRun


@pytest.fixture
def two_hosts(tmp_path):
    run = tmp_path / "logs" / "plugins" / "profile" / "2024_01_01_00_00_00"
    for host, length in (("alpha", 100), ("beta", 300)):
        space = XSpace()
        python = space.plane("/host:CPU").line("python")
        for i in range(3):
            python.event("train", start_us=400 * i, duration_us=length, step_num=i, _r=1)
            python.event("MatMul:MatMul", start_us=400 * i, duration_us=length - 1)
        space.write(run / f"{host}.xplane.pb")
    return tmp_path / "logs"


def test_hosts_of_one_run(two_hosts):
    p = tp.load(two_hosts, name="both")
    assert (p.name, p.hosts, p.device_type) == ("both", ("alpha", "beta"), "CPU")
    assert p.duration_ms == pytest.approx(1.1)
    assert len(p.steps.table) == 6
    assert set(p.events["host"]) == {"alpha", "beta"}
    assert p.host("beta").steps.summary["step_ms_mean"] == pytest.approx(0.3)
    with pytest.raises(tp.ProfileNotFoundError, match=r"gamma.*alpha, beta"):
        p.host("gamma")


def test_a_capture_without_events_lasted_as_long_as_it_recorded(tmp_path):
    space = XSpace()
    space.plane("Task Environment", profile_start_time=10**18, profile_stop_time=10**18 + 250_000_000)
    space.plane("/host:CPU").line("python")
    p = tp.load(space.write(tmp_path / "host.xplane.pb"))
    assert (len(p.events), p.duration_ms) == (0, 250)


def test_a_damaged_sidecar_is_told_in_the_overview(two_hosts):
    (file,) = two_hosts.rglob("alpha.xplane.pb")
    file.with_name("alpha.tfprof.json.gz").write_bytes(b"no gzip")
    assert any("alpha.tfprof.json.gz" in note for note in tp.load(two_hosts).overview.notes)


def test_pages_say_whether_their_sums_are_of_all_steps(tmp_path):
    """Of six steps, the ops of three were recorded."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for number in range(6):
        python.event("train", start_us=1000 * number, duration_us=900, step_num=number, _r=1)
        if number < 3:
            python.event("MatMul:MatMul", start_us=1000 * number + 200, duration_us=450)
    python.event(OPS_END, start_us=3000, duration_us=1)
    p = tp.load(space.write(tmp_path / "host.xplane.pb"))
    assert p.ops.table["occurrences"].tolist() == [6]
    for result in (p.ops, p.source, p.flame):
        assert result.notes[0].startswith("Ops were recorded in 3 of 6 steps: the times and runs of ops are estimated")
    for result in (p.memory, p.tf_data):
        assert result.notes[0].startswith("Ops were recorded in 3 of 6 steps: sums are those of the recorded ones")


def test_results_are_computed_once(two_hosts):
    p = tp.load(two_hosts)
    assert p.ops is p.ops


def test_printing_a_result_computes_only_what_it_shows(two_hosts):
    p = tp.load(two_hosts)
    assert "NOT input-bound" in str(p.overview)
    assert {"overview", "steps", "ops"} <= vars(p).keys()
    assert not {"advice", "functions", "tf_data", "memory", "graph", "source", "trace"} & vars(p).keys()


def test_a_terminal_prints_the_answer_and_not_all_pages(two_hosts, capsys):
    p = tp.load(two_hosts).host("beta")
    p._ipython_display_()
    printed = capsys.readouterr().out
    assert printed.strip() == str(p).strip()
    assert re.findall("── ([A-Z].*?) ─", printed) == ["Answer"]
    assert printed.rstrip().endswith(".memory ...")
    assert "trace" not in vars(p)


def test_text_says_the_answer_first(two_hosts):
    lines = str(tp.load(two_hosts, name="both")).splitlines()
    assert lines[0] == "both · 6 steps · CPU · 1.10 ms captured"
    assert lines[2] == "hosts: all 2"
    assert lines[4] == "Much of the time lies between the steps. That is 40.0% of the capture's time."
    alone = str(tp.load(two_hosts).host("beta")).splitlines()
    assert alone[2] == "Nothing to change: the model itself takes 81.5% of the capture's time, all of it MatMul."


def test_report_is_one_file_that_needs_nothing_else(two_hosts, tmp_path):
    path = tp.load(two_hosts).to_html(tmp_path / "new" / "report.html")
    html = path.read_text()
    assert html.startswith("<!doctype html>")
    assert "Much of the time lies between the steps." in html
    assert not re.findall(r"""(?:src|href)=["']?https?:""", html)


@pytest.mark.parametrize(
    "feature",
    [
        "overview",
        "advice",
        "steps",
        "source",
        "input_pipeline",
        "tf_data",
        "ops",
        "pods",
        "kernels",
        "memory",
        "functions",
        "trace",
    ],
)
def test_every_result_has_a_table_a_view_and_says_why_it_is_empty(two_hosts, feature):
    result = getattr(tp.load(two_hosts), feature)
    assert len(result.table) or result.notes
    assert str(result.view())
    assert len(result.view().to_html()) < 64 * 1024


@pytest.mark.parametrize("name", ["tf_data", "memory", "functions", "advice", "tf_data.pipelines", "memory.timeline"])
def test_columns_have_the_same_types_without_rows(shared_data, tmp_path, name):
    space = XSpace()
    space.plane("/host:CPU").line("python").event("Python", start_us=0, duration_us=1)
    result, _, frame = name.partition(".")
    none, some = (
        getattr(getattr(tp.load(path), result), frame or "table")
        for path in (space.write(tmp_path / "host.xplane.pb"), shared_data / "tf2-gpu-pong")
    )
    assert none.empty
    assert len(some)
    assert none.dtypes.to_dict() == some.dtypes.to_dict()


def test_an_unfinished_profile_says_so():
    p = tp.Profile(PendingRun())
    with pytest.raises(tp.CaptureError, match="after its block ended"):
        p.steps  # noqa: B018
    assert repr(p) == "<Profile being captured>"


def test_bad_files_fail_when_loaded(tmp_path):
    (tmp_path / "bad.xplane.pb").write_bytes(b"\xff" * 50)
    with pytest.raises(tp.BadProfileError, match=r"bad\.xplane\.pb"):
        tp.load(tmp_path / "bad.xplane.pb")


def test_a_folder_is_no_place_for_a_report(two_hosts, tmp_path):
    with pytest.raises(tp.TfprofError, match=r"is a folder.*report\.html"):
        tp.load(two_hosts).to_html(tmp_path)


def test_a_report_needs_a_path(two_hosts):
    with pytest.raises(tp.TfprofError, match=r"None is no path. Name a file, for example 'report\.html'"):
        tp.load(two_hosts).to_html(None)


def test_pages_of_the_dashboard_are_chosen_by_name(two_hosts):
    p = tp.load(two_hosts)
    assert "── Ops" in str(p.dashboard("ops"))
    assert "── Steps" not in str(p.dashboard(name for name in ("ops", "trace")))
    with pytest.raises(ValueError, match="no view 'nowhere': choose from overview, advice"):
        p.dashboard(["nowhere"])


@pytest.mark.parametrize("nothing", [None, ""])
def test_no_path_is_no_profile(nothing):
    with pytest.raises(tp.ProfileNotFoundError, match="No path was given"):
        tp.load(nothing)


@pytest.mark.parametrize(
    ("section", "content"),
    [
        ("graphs", {"functions": [{}]}),
        ("graphs", {"functions": 5}),
        ("graphs", {"traces": [[3]]}),
        ("capture", [1]),
        ("capture", {"notes": "text"}),
        ("cell", {"text": "x"}),
        ("cell", [1]),
        ("cells", ["In[1]"]),
        ("metrics", {"times_ns": [1]}),
        ("metrics", {"times_ns": [10**30], "series": []}),
        ("process_memory", "text"),
    ],
)
def test_a_damaged_section_costs_only_itself(two_hosts, section, content):
    files = list(two_hosts.rglob("*.xplane.pb"))
    environment = XSpace()
    environment.plane("Task Environment", profile_start_time=10**18)
    for file in files:
        file.write_bytes(file.read_bytes() + environment.to_bytes())
        other = {"capture": {"notes": ["noted"]}} if section != "capture" else {"cells": {"a.py": "In[7]"}}
        written = {"version": 1, section: content} | other
        (file.parent / file.name.replace("xplane.pb", "tfprof.json.gz")).write_bytes(
            gzip.compress(json.dumps(written).encode())
        )
    p = tp.load(two_hosts)
    assert "input-bound" in str(p.overview)
    damaged = [note for note in p.overview.notes if f"section {section} of" in note and "is damaged" in note]
    assert len(damaged) == len(files)
    assert ("noted" in p.overview.notes) == (section != "capture")
    assert p.metrics.empty
    assert p.source.view() is not None
    assert len(p.trace.header()["names"]) > 0
