"""The first finding on each recorded program of the benchmark names its fault; the healthy ones raise no alarm."""

import json

import pytest

from benchmarks import advice_programs
from benchmarks.advice import headline
from benchmarks.advice_judgement import is_alarm, named


@pytest.mark.parametrize("name", advice_programs.names())
def test_the_fault_is_named_first(captured, name):
    profile, planted = captured(f"benchmark/{name}"), advice_programs.load(name)
    findings = json.loads(profile.advice.table.to_json(orient="records"))
    if planted.is_healthy:
        assert not is_alarm(findings, headline(str(profile))), findings
    else:
        assert findings
        assert named(planted, findings[0]), findings[0]
