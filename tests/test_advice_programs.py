"""The first finding names the planted fault, in processes of their own: programs as people write them in notebooks."""

import json
import os
import subprocess
import sys

import pytest

from benchmarks import advice_programs
from benchmarks.advice import headline
from benchmarks.advice_judgement import is_alarm, named

# One per kind of cause; `benchmarks.advice` measures all.
OFTEN = (
    *("csv_log", "eager_loop", "generator_source", "missing_cache", "predict_per_sample", "retrace_scalar"),
    *("serial_reads", "shuffle_buffer", "tf1_feed", "wait_for_loss", "healthy_custom_loop", "healthy_generator"),
)


def programs():
    return [
        pytest.param(name, marks=() if name in OFTEN else pytest.mark.slow, id=name) for name in advice_programs.names()
    ]


@pytest.fixture
def told(root, tmp_path):
    """What the advice says of a program."""

    def run(name):
        surroundings = {"PYTHONPATH": str(root), "TMPDIR": str(tmp_path), "IPYTHONDIR": str(tmp_path)}
        command = [sys.executable, "-m", "benchmarks.advice_programs", "advice", name, "told.json"]
        subprocess.run(command, cwd=tmp_path, env=os.environ | surroundings, check=True, capture_output=True)
        return json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))

    return run


@pytest.mark.parametrize("name", programs())
def test_the_first_finding_names_the_fault(told, name):
    program, said = advice_programs.load(name), told(name)
    findings = said["findings"]
    if program.is_healthy:
        assert not is_alarm(findings, headline(said["text"])), (findings, said["text"])
    else:
        assert findings
        assert named(program, findings[0]), findings[0]
