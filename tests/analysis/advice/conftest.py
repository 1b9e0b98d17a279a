"""Profiles of small programs, and places in their code."""

import inspect

import pytest

import tfprof_nb as tp
from tfprof_nb.analysis.advice import catalogue
from tfprof_nb.analysis.advice.findings import finding_of


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Work in another folder than that of the programs: places are told with whole paths."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def advised():
    """Run a program twice, the second time under the profiler; return the advice."""

    def advise(program):
        program()
        with tp.profile() as p:
            program()
        return p.advice.table

    return advise


@pytest.fixture
def place_of():
    """Return the place of the line of a function or class that has a text."""

    def place(code, text):
        lines, first = inspect.getsourcelines(code)
        number = first + next(k for k, line in enumerate(lines) if text in line)
        return f"{inspect.getsourcefile(code)} line {number}"

    return place


@pytest.fixture
def the_one():
    """Return the only finding that begins with a text."""

    def one(table, begin):
        (row,) = table[table["finding"].str.startswith(begin)].to_dict("records")
        return row

    return one


@pytest.fixture
def found_by():
    """Return what some rules find in results that only they look at."""

    def found(evidence, *names):
        cases = {}
        for rule, check in catalogue._entries():
            if rule.id in names:
                earlier = {name: cases.get(name, ()) for name in rule.after}
                own = [case for case in check(evidence, earlier) if not case.percent < rule.moderate]
                cases[rule.id] = [finding_of(rule, case, evidence) for case in own]
        return [finding for of_rule in cases.values() for finding in of_rule]

    return found
