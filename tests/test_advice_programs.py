"""The first finding names the planted fault, in processes of their own: programs as people write them in notebooks."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks import advice_programs
from benchmarks.advice import headline
from benchmarks.advice_judgement import is_alarm, named
from benchmarks.advice_pasted import pasted
from benchmarks.advice_results import differing
from tfprof_nb.analysis.advice.catalogue import rules

pytestmark = [pytest.mark.tensorflow, pytest.mark.nightly]


@pytest.fixture
def told(root, tmp_path):
    """What a program tells in a process of its own: the advice of its profile, or the time of a changed one."""

    def run(what, program):
        (tmp_path / "told.json").write_text(json.dumps(vars(program)), encoding="utf-8")
        surroundings = {"PYTHONPATH": str(root), "TMPDIR": str(tmp_path), "IPYTHONDIR": str(tmp_path)}
        command = [sys.executable, "-m", "benchmarks.advice_programs", what, program.name, "told.json"]
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | surroundings, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))

    return run


@pytest.mark.parametrize("name", advice_programs.names())
def test_the_first_finding_names_the_fault_and_its_code_runs(told, name):
    program = advice_programs.load(name)
    said = told("advice", program)
    findings = said["findings"]
    if program.is_healthy:
        assert not is_alarm(findings, headline(said["text"])), (findings, said["text"])
    else:
        assert findings
        assert named(program, findings[0]), findings[0]
        if changed := pasted(program, findings[0]):
            told("pasted", replace(program, setup=changed[0], cell=changed[1]))


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", [name for name in advice_programs.names() if not name.startswith("healthy_")])
def test_each_change_leaves_results_as_its_rule_claims(told, name):
    program = advice_programs.load(name)
    changed = {
        finding["rule"]: both for finding in told("advice", program)["findings"] if (both := pasted(program, finding))
    }
    if not changed:
        pytest.skip("no finding on this program gives code for it")
    before, again = told("results", program), told("results", program)
    for rule, (setup, cell) in changed.items():
        after = told("results", replace(program, setup=setup, cell=cell))
        assert not differing(before, again, after, rules()[rule].results), (rule, cell)
