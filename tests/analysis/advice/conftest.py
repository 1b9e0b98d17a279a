"""Profiles of small programs, and places in their code."""

import inspect

import pytest

import tfprof_nb as tp


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
