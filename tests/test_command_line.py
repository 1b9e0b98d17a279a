import json
import math
import subprocess
import sys

import pytest

import tfprof_nb as tp
from builders import XSpace
from tfprof_nb.__main__ import _PAGES, main

pytestmark = pytest.mark.usefixtures("kept_results")


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    import tensorflow as tf

    folder = tmp_path_factory.mktemp("logs")
    for name in ("older", "newer"):
        with tp.profile(name, logdir=folder):
            for i in range(3):
                with tp.step(i):
                    tf.add(i, 1)
    return folder


@pytest.mark.tensorflow
def test_a_report_of_the_newest_run(logdir, tmp_path):
    target = tmp_path / "new" / "report.html"
    command = [sys.executable, "-m", "tfprof_nb", "report", str(logdir), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert str(target) in done.stderr
    assert "<title>newer · the newest of 2 runs" in target.read_text()


@pytest.mark.tensorflow
def test_the_answer_as_text(logdir, capsys):
    run = tp.find_runs(logdir)[0]
    assert main(["overview", str(run.path)]) == 0
    assert capsys.readouterr().out.strip() == str(tp.load(run.path)).strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A profile of three steps of 900 µs, each with two ops."""
    space = XSpace()
    python = space.plane("/host:CPU").line("python")
    for step in range(3):
        python.event("train", start_us=1000 * step, duration_us=900, step_num=step, _r=1)
        python.event("product:MatMul", start_us=1000 * step, duration_us=300)
        python.event("add:Add", start_us=1000 * step + 400, duration_us=100)
    return str(space.write(tmp_path_factory.mktemp("built") / "host.xplane.pb"))


def printed(capsys, *arguments):
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_the_answer_in_three_formats(built, capsys):
    profile = tp.load(built)
    assert printed(capsys, "overview", built).strip() == str(profile).strip()
    assert json.loads(printed(capsys, "overview", built, "--format", "json")) == profile.to_dict()
    assert printed(capsys, "overview", built, "--format", "md", "--rows", "1").strip() == profile.to_markdown(1).strip()


@pytest.mark.parametrize("name", _PAGES)
def test_each_page_in_three_formats(name, built, capsys):
    result = getattr(tp.load(built), name)
    assert printed(capsys, name, built).strip() == str(result).strip()
    page = json.loads(printed(capsys, name, built, "--format", "json", "--rows", "2"))
    assert (page["format"], page["version"], page["page"]) == ("tfprof_nb page", 1, name)
    assert page["row_count"] == len(result.table)
    assert len(page["rows"]) == min(2, len(result.table))
    assert set(page["summary"]) == set(map(str, result.summary))
    assert printed(capsys, name, built, "--format", "md").startswith(f"# {name}\n")


def test_the_numbers_of_steps_and_ops(built, capsys):
    steps = json.loads(printed(capsys, "steps", built, "--format", "json"))
    assert [(row["step"], row["step_ms"]) for row in steps["rows"]] == [(0, 0.9), (1, 0.9), (2, 0.9)]
    ops = json.loads(printed(capsys, "ops", built, "--format", "json"))["rows"]
    assert {row["op_name"]: row["occurrences"] for row in ops} == {"product": 3, "add": 3}


def test_unknown_numbers_are_null(built, capsys):
    query = "select 'nan'::double as nothing, 1 as one"
    table = json.loads(printed(capsys, "sql", query, built, "--format", "json"))
    assert table == {"rows": [{"nothing": None, "one": 1}], "row_count": 1}
    assert not math.isnan(table["rows"][0]["one"])


def test_sql_on_the_command_line(built, capsys):
    query = "select count(*) as n, sum(step_ms) as ms from steps"
    assert printed(capsys, "sql", query, built).split() == ["n", "ms", "3", "2.7"]
    assert printed(capsys, "sql", query, built, "--format", "md").splitlines()[-1] == "| 3 | 2.7 |"
    assert "a\\|\\*b" in printed(capsys, "sql", "select 'a|*b' as x", built, "--format", "md")
    assert main(["sql", "select * from no_such_table", built]) == 1
    says = capsys.readouterr().err
    assert says.startswith("tfprof_nb: ")
    assert "The tables are: " in says


def test_a_comparison_in_three_formats(built, capsys):
    page = json.loads(printed(capsys, "compare", built, built, "--format", "json"))
    assert page["page"] == "compare"
    assert page["summary"]["speedup"] == 1
    first = printed(capsys, "compare", built, built).splitlines()[0]
    assert first == page["notes"][0]
    assert printed(capsys, "compare", built, built, "--format", "md").startswith("# compare\n")


@pytest.mark.parametrize(
    "arguments", [["report", "/nowhere"], ["overview", "/nowhere"], ["sql", "select 1", "/nowhere"]]
)
def test_what_is_wrong_is_said_in_a_line(arguments, capsys):
    assert main([*arguments, "/nowhere"]) == 1
    says = capsys.readouterr().err
    assert says.startswith("tfprof_nb: There is no file or folder /nowhere")
    assert "Traceback" not in says


def test_without_a_command_the_usage_is_shown(capsys):
    with pytest.raises(SystemExit):
        main([])
    assert "COMMAND" in capsys.readouterr().err


@pytest.mark.tensorflow
def test_urls_are_paths_too(logdir, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PLACE_OF_REPORTS", str(tmp_path / "new"))
    url = logdir.as_uri()
    newest = tp.find_runs(logdir)[-1].name
    assert main(["report", url, "-o", "$PLACE_OF_REPORTS/r.html"]) == 0
    assert newest in (tmp_path / "new" / "r.html").read_text()
    assert main(["report", url, "-o", "$PLACE_OF_REPORTS/r.md"]) == 0
    assert (tmp_path / "new" / "r.md").is_file()
    assert main(["compare", url, url, "--all-runs"]) == 0
    assert "2 runs" in capsys.readouterr().out
    run = tp.find_runs(url)[-1]
    assert str(run.place).startswith(url)
    assert run.place in str(run)
    assert tp.load(run.place).name == newest
