import subprocess
import sys

import pytest

import tfprof_nb as tp
from tfprof_nb.__main__ import main


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
    assert main(["show", str(run.path)]) == 0
    assert capsys.readouterr().out.strip() == str(tp.load(run.path)).strip()


@pytest.mark.parametrize("arguments", [["report", "/nowhere"], ["show", "/nowhere"]])
def test_what_is_wrong_is_said_in_a_line(arguments, capsys):
    assert main(arguments) == 1
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
