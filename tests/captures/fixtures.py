"""What tests read: profiles of recorded programs, and places in the text that was recorded with them."""

import ast
import os
from contextlib import contextmanager, suppress
from functools import cache, lru_cache

import pytest

import tfprof_nb as tp
from captures import archive, sources
from tfprof_nb import result_cache
from tfprof_nb.formats.files import RUNS_FOLDER

PS_PER_S = 10**12
KEPT_OPEN = 4  # profiles, of which neighbouring tests read the same


@pytest.fixture(scope="session")
def captured(tmp_path_factory):
    """Return a function that opens the capture of a program, named ``module/program``.

    What one test computes of it, others find, also those of other workers: results are kept as users keep them, for as
    long as the tests run.
    """
    shared = _of_all_workers(tmp_path_factory, "captured")

    def open_capture(name):
        check(name)
        logdir = shared / name.replace("/", ".")
        if not logdir.is_dir():
            part = tmp_path_factory.mktemp("part")
            archive.read(name, part)
            with suppress(OSError):  # another worker was faster
                part.rename(logdir)
        with _keeping_results(logdir / "cache"):
            profile = tp.load(logdir / RUNS_FOLDER / archive.RUN, name=name)
            assert profile.data.cache.folder.is_relative_to(logdir)
        return profile

    return lru_cache(KEPT_OPEN)(open_capture)


@pytest.fixture(scope="session")
def advised(captured):
    """Return a function that tells the advice on a recorded program."""
    return cache(lambda name: captured(name).advice.table)


@pytest.fixture(scope="module")
def kept_results(tmp_path_factory):
    """Keep results as users do: for tests that open one profile again and again."""
    with _keeping_results(tmp_path_factory.mktemp("cache")):
        yield


@contextmanager
def _keeping_results(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(result_cache.OFF, raising=False)
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setattr(result_cache, "LEAST_BYTES", 0)
        yield


@pytest.fixture
def seconds():
    """Return a function that tells what a recorded program took by the clock.

    Without the removal of iterators, which takes time by chance.
    """

    def of(profile):
        events = profile.events
        removing = events.loc[events["name"] == "TFE_DeleteTensorHandle", "duration_ps"].sum()
        return archive.about(profile.name)["seconds"] - removing / PS_PER_S

    return of


def _of_all_workers(tmp_path_factory, name):
    """Return a folder that the workers of this run of the tests share."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / name
    folder.mkdir(exist_ok=True)
    return folder


def check(name):
    """Fail, and say what to do, where a program is not recorded as it is written now."""
    if trouble := trouble_with(name):
        pytest.fail(trouble)


def trouble_with(name):
    """Say what to do where a program is not recorded as it is written now; nothing where it is."""
    again = f'record it: make captures NAMES="{name}"'
    if not archive.file_of(name).is_file():
        return f"There is no capture of {name}: {again}"
    changed = archive.about(name)["digest"] != sources.digest(name)
    return f"{name} was changed since it was recorded: {again}" if changed else ""


@pytest.fixture
def place_of(captured):
    """Return a function that finds a line of a recorded program: the first of a function or class with some text.

    Without a function, the first of the module.
    """

    def place(name, function, text):
        file = f"tests/programs/{name.partition('/')[0]}.py"
        return f"{file} line {line_with(captured(name).data.texts[file], function, text)}"

    return place


def line_with(program, function, text):
    """Return the number of the first line with some text in a function or class, as ``outer.inner`` if need be."""
    if not function:
        return next(number for number, line in enumerate(program.splitlines(), 1) if text in line)
    (found,) = [node for name, node in _definitions(ast.parse(program), "") if f".{name}".endswith(f".{function}")]
    first = min(found.lineno, *(decorator.lineno for decorator in found.decorator_list), found.end_lineno)
    lines = program.splitlines()[first - 1 : found.end_lineno]
    return first + next(number for number, line in enumerate(lines) if text in line)


def _definitions(node, outer):
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.FunctionDef | ast.ClassDef):
            yield f"{outer}{inner.name}", inner
            yield from _definitions(inner, f"{outer}{inner.name}.")
        else:
            yield from _definitions(inner, outer)
