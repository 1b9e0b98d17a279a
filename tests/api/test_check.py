from dataclasses import replace

import pytest
from IPython.core.interactiveshell import InteractiveShell

import tfprof_nb as tp
from capture.test_diagnosis import GOOD
from tfprof_nb.api.check import report
from tfprof_nb.notebook.magics import register, unregister


@pytest.mark.tensorflow
def test_this_machine_can_capture(tmp_path):
    result = tp.check(tmp_path)
    assert list(result.table.columns) == ["check", "status", "detail", "cure"]
    assert sum(result.summary.values()) == len(result.table)
    assert result.summary["problem"] == 0
    assert str(tmp_path) in set(result.table["detail"].str.split(" free in ").str[-1])


def test_the_magic_gives_the_same(tmp_path):
    shell = InteractiveShell()
    register(shell)
    table = shell.run_line_magic("tfprofile_check", f"--out {tmp_path}").table
    assert table["check"].tolist() == tp.check(tmp_path).table["check"].tolist()
    assert table["detail"].str.contains(str(tmp_path), regex=False).any()
    unregister(shell)
    assert "tfprofile_check" not in shell.magics_manager.magics["line"]


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "Captures work here."),
        ({"keras_backend": "jax"}, "Captures work here; 1 check needs attention."),
        ({"keras_backend": "jax", "writable": False, "profiler_active": True}, "2 problems to solve"),
    ],
)
def test_the_verdict_comes_first_and_every_cure_with_it(changes, verdict):
    result = report(replace(GOOD, **changes))
    assert verdict in str(result).splitlines()[2]
    for cure in result.table["cure"]:
        first_words = cure.partition("`")[0].strip()
        assert first_words in str(result)
    assert "<script" not in result.view().to_html()
